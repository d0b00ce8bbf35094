from .chance import (
    holm as holm,
)
from .claim import (
    Claim as Claim,
    Part as Part,
    PartRole as PartRole,
)
from .days import (
    MONTHS as MONTHS,
    MORNING as MORNING,
    Days as Days,
    Moment as Moment,
    has_moment as has_moment,
    moment_said as moment_said,
)
from .doubts import (
    Doubt as Doubt,
    added_up as added_up,
)
from .entries import (
    DATE_LOST as DATE_LOST,
    LEAST_CHARACTERS as LEAST_CHARACTERS,
    WRONG_TIME as WRONG_TIME,
    in_time as in_time,
    is_listed as is_listed,
    memories_of as memories_of,
    wrong_times as wrong_times,
)
from .errors import (
    JudgeError as JudgeError,
    MemfailError as MemfailError,
    MemorySystemError as MemorySystemError,
    RowError as RowError,
    SnapshotError as SnapshotError,
    TimedOutError as TimedOutError,
    TruncatedListingError as TruncatedListingError,
    UnknownNameError as UnknownNameError,
    UsageError as UsageError,
    WrongTypeError as WrongTypeError,
    counted as counted,
    one_line as one_line,
    problem_of as problem_of,
)
from .files import (
    append_text as append_text,
    check_can_be_made as check_can_be_made,
    check_place as check_place,
    check_regular as check_regular,
    copy_folder as copy_folder,
    fingerprint as fingerprint,
    hold_lock as hold_lock,
    is_fresh as is_fresh,
    is_held as is_held,
    is_same_place as is_same_place,
    json_of as json_of,
    os_reason as os_reason,
    put_in_place as put_in_place,
    replacing as replacing,
    write_all as write_all,
    write_whole as write_whole,
)
from .model import (
    MAX_K as MAX_K,
    Conversation as Conversation,
    Fact as Fact,
    Ingest as Ingest,
    Listing as Listing,
    Memory as Memory,
    Message as Message,
    Origin as Origin,
    Origins as Origins,
    Probe as Probe,
    Question as Question,
    Reply as Reply,
    Role as Role,
    Session as Session,
    Step as Step,
    StorePlan as StorePlan,
    Task as Task,
    Trace as Trace,
    rank_of as rank_of,
)
from .origins import (
    find_origins as find_origins,
    kept_of as kept_of,
)
from .phase import (
    SEARCHING as SEARCHING,
)
from .protocols import (
    Chat as Chat,
    ChatReply as ChatReply,
    Judge as Judge,
    MemorySystem as MemorySystem,
    SystemContext as SystemContext,
    SystemFactory as SystemFactory,
    TestTaker as TestTaker,
    ToolCall as ToolCall,
)
from .record import (
    Comparable as Comparable,
    ErrorRecord as ErrorRecord,
    Key as Key,
    QuestionRecord as QuestionRecord,
)
from .refusals import (
    refusal as refusal,
)
from .sources import (
    described_apart as described_apart,
    sources_of as sources_of,
)
from .suite import (
    OURS as OURS,
    AnswerKind as AnswerKind,
    AskModel as AskModel,
    Folders as Folders,
    Found as Found,
    GradeWithModel as GradeWithModel,
    Kind as Kind,
    Measure as Measure,
    PlantedFault as PlantedFault,
    Plants as Plants,
    Score as Score,
    Source as Source,
    Staged as Staged,
    Suite as Suite,
    SuiteFault as SuiteFault,
    SuiteRequest as SuiteRequest,
    TaskPart as TaskPart,
    Unit as Unit,
)
from .taxonomy import (
    CORRECT as CORRECT,
    ERROR as ERROR,
    FACT_HELD as FACT_HELD,
    FAILURES as FAILURES,
    GRADED as GRADED,
    LEFT_OPEN as LEFT_OPEN,
    LETTERS as LETTERS,
    MEANINGS as MEANINGS,
    MEMORY_FAILURES as MEMORY_FAILURES,
    NO_ANSWER as NO_ANSWER,
    NOT_RETRIEVED as NOT_RETRIEVED,
    NOT_STORED as NOT_STORED,
    REASONING_ERROR as REASONING_ERROR,
    STAGE_FAILURE as STAGE_FAILURE,
    STAGES as STAGES,
    STATES as STATES,
    SUMMARY_ERROR as SUMMARY_ERROR,
    UNGRADED as UNGRADED,
    VACUOUS as VACUOUS,
    VERDICTS as VERDICTS,
    WRONGLY_HELD as WRONGLY_HELD,
    ProtocolName as ProtocolName,
    in_words as in_words,
    worst as worst,
)
from .times import (
    RowTimes as RowTimes,
    dated_texts as dated_texts,
    moment_of as moment_of,
)
from .told import (
    KINDS as KINDS,
    OTHERS as OTHERS,
    TURN as TURN,
    Told as Told,
    kinds_of as kinds_of,
    places_in as places_in,
    told_of as told_of,
)
from .verdict import (
    ADDED_STAGE as ADDED_STAGE,
    LOST_LATER as LOST_LATER,
    MEMORY_STAGES as MEMORY_STAGES,
    NEEDS_MODEL as NEEDS_MODEL,
    TRIVIAL_PASS as TRIVIAL_PASS,
    UNCONFIRMED as UNCONFIRMED,
    UNREACHED as UNREACHED,
    UNREAD as UNREAD,
    UNSURE as UNSURE,
    FactVerdict as FactVerdict,
    Kept as Kept,
    MemoryStage as MemoryStage,
    StageResult as StageResult,
    Verdict as Verdict,
    VerdictName as VerdictName,
    described as described,
    distractor_verdict as distractor_verdict,
    fact_verdict as fact_verdict,
    question_verdict as question_verdict,
)
