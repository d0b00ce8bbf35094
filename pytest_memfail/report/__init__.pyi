from .compare import (
    comparison as comparison,
    percent as percent,
    percent_of as percent_of,
    seed_lines as seed_lines,
)
from .data_report import (
    data_report as data_report,
)
from .files import (
    check_report as check_report,
    page as page,
    write_reports as write_reports,
)
from .gate import (
    gate as gate,
    gate_outcome as gate_outcome,
)
from .judge_check import (
    judge_check as judge_check,
)
from .model_card import (
    model_card as model_card,
)
from .runs import (
    run_table as run_table,
)
from .terminal import (
    Failed as Failed,
    cause_lines as cause_lines,
    closing as closing,
    failed_question as failed_question,
    failed_questions as failed_questions,
    headlines as headlines,
    worst_first as worst_first,
)
from .text import (
    details as details,
    failure as failure,
    headline as headline,
    model_table as model_table,
    summary as summary,
    verdict_table as verdict_table,
)
