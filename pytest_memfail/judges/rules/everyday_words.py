"""Everyday English in other words: what people say of their days in more than one way, and no dictionary has in one entry."""

from __future__ import annotations

from typing import Final

SAME: Final = """
# sleep and waking
sleep | go to sleep | go to bed | turn in | retire for night | be in bed | hit hay | hit sack | get to bed | head to bed | head for bed
asleep | drift off | doze off | nod off | drop off | fall asleep | drift into sleep | off to sleep | drift to sleep | out like light
nap | snooze | doze | siesta | catnap | forty winks | lie down | lie-down | power nap | get some shut-eye | short sleep | bit of sleep
oversleep | sleep in | sleep too long | sleep too late | wake too late | wake late | sleep past alarm | sleep through alarm | miss alarm | miss one's alarm | not hear alarm
restless sleep | sleep badly | sleep poorly | bad night | toss and turn | tossing and turning | broken sleep | disturbed sleep | poor sleep | uneasy sleep | rough night | sleep restless | light sleep
sleep peacefully | sleep soundly | sleep well | sound sleep | good night's sleep | restful sleep | peaceful sleep | sleep like baby | sleep like log | sleep deeply
peacefully | soundly | restfully | undisturbed
sleep better | better sleep | better night | improve one's sleep | sleep quality
groggy | bleary | bleary-eyed | half awake | half asleep | not properly awake | dazed | foggy-headed | heavy-headed | sluggish | drowsy
doze lightly | light doze | doze off lightly | half asleep
wake up | get up | wake | come round
# times
nightly | every night | each night | night after night | on nightly basis | night by night | before bed each night | every evening
daily | every day | each day | day after day | day in day out | on daily basis
weekly | every week | each week | once week | on weekly basis
weekday | during week | on working days | working day | workday | Monday to Friday | on work days | business days
weekend | Saturdays and Sundays | Saturday and Sunday
early morning | early in morning | at dawn | first thing | small hours | at crack of dawn | before sunrise | before breakfast | morning early
early | at early hour | ahead of schedule | ahead of time | in good time | sooner than usual | before time | earlier than usual | before deadline | with time to spare | at early time | earlier
late-night | late at night | late in night | in small hours | past bedtime | deep in night | far into night | late evening | at late hour | nocturnal
late-afternoon | late in afternoon | at end of afternoon | toward evening | towards evening
midnight | in middle of night | in dead of night | at midnight | at twelve at night
midday | noon | at lunchtime | lunchtime | in middle of day | around noon | mid-day
sunrise | dawn | daybreak | first light | as sun rises | as sun comes up | when sun rises | at sunup
sunset | dusk | sundown | as sun sets | when sun sets | as sun goes down | when sun goes down | twilight | at nightfall
all day | whole day | entire day | throughout day | from morning to night | rest of day | day long | all day long | remainder of day
for hours | hours on end | hour after hour | for several hours | hours at time | long hours | for long time | hours of
next time | following time | time after | next attempt | next go | next round | another time | time around
short | brief | quick | little | for while
monday | start of week | beginning of week | first day of week
# how, and how much
alone | solo | by oneself | on one's own | unaccompanied | single-handed | in solitude | with nobody | without company | all by oneself | lone | single | with no one else | one's own company
quickly | fast | rapidly | in no time | swiftly | speedily | at speed | soon | before long | at quick pace | at rapid pace | quick | in short time
slowly | slow | at slow pace | leisurely | at leisurely pace | unhurried | without hurry | in no hurry | without rushing | at gentle pace | gentle | unhurriedly
slower | slow down | slows down | slow | at slower pace
softly | soft | gently | quietly | under one's breath | in low voice | in soft voice | in quiet voice | at low volume | hushed
loudly | loud | at full volume | at top of one's voice | top of one's lungs | noisily | at high volume | full blast | at volume | out loud
loud | noisy | make lot of noise | make noise | blaring | make racket | make din | rowdy
unexpectedly | out of blue | suddenly | without warning | by surprise | out of nowhere | for no reason | spontaneously | abruptly
sudden | abrupt | out of blue | unexpected | all at once
spontaneous | last-minute | spur of moment | unplanned | impromptu | out of blue | at short notice | surprise
lots of | plenty of | lot of | much | loads of | heaps of | tons of | large amounts | great deal | large quantities | glass after glass | many | copious
strong | robust | potent | powerful | intense
comfortably | in comfort | at ease | with ease | more at ease | comfortable | with less strain | with more comfort
energetically | with energy | full of energy | with lots of energy | vigorously | with vigour | with vigor | lively | with gusto
deeply | deep | intensely | intensively | thoroughly | fully | completely | hard
gently | lightly | softly | slightly
lightly | light | gently
handwritten | by hand | written by hand | hand-written | in longhand | pen and paper
handwrite | write by hand | hand-write | write in longhand | pen by hand
online | on internet | on web | on social media | to social media | on net
boundless | endless | without end | no end | limitless | unlimited | without limit | without limits | no limits | infinite | never-ending | inexhaustible
flawless | perfect | without flaw | without fault | faultless | impeccable
broken | out of order | out of action | not working | does not work | doesn't work | out of service | defective | faulty | defunct | stopped working | damaged
spotless | perfectly clean | sparkling clean | immaculate | squeaky clean
minor | lesser | second-rate | of second rank | lesser-known | little-known
new | brand-new | brand new | fresh | just bought | newly bought | recently bought | not known before
fresh | new | brand new | brand-new | newly
freshly | newly | recently | just
thick | heavy | chunky
old | vintage | ancient | from years ago | from past | of bygone days | of old | long-ago | bygone
strict | stern
crowded | packed | full of people | busy | jam-packed | overcrowded | crammed | full | with lots of people | with many people | heaving
quiet | silent | hushed | free of noise | without noise | peaceful | still | everything is quiet | calm
silence | stillness | hush | absence of noise | quiet | quietness
noisy | loud | full of noise | rowdy
cozy | snug | homely | comfy
cold | chilly | chilled | icy | iced | ice-cold | cool
chilly | cold | nippy | cool | drop in temperature
warm | heat up | warm up | heat | get warm
spicy | hot | fiery | peppery | chilli-hot
bright | vivid | colourful | colorful | brightly coloured | brightly colored | in bright colours | in bright colors | vibrant
scenic | picturesque | of scenery | of view | of views | of landscape | of landscapes
cityscape | city scene | city view | urban scene | urban view | skyline | views of city | scenes of city | urban landscape
small talk | chit-chat | chitchat | idle chat | polite conversation
awkward | uncomfortable | stilted | clumsy | embarrassing
affectionate | loving | tender | fond | full of affection | warm
heartfelt | sincere | from heart | earnest | deeply felt
lucky | bring luck | brings luck | bring good luck | good-luck | talisman
favourite | favored | preferred | best-loved | most loved
# states and feelings
calm | peaceful | serene | tranquil | at peace | at ease | placid | quiet | composed
calm mind | peace of mind | quiet mind | clear mind | settled mind | mind at ease | mind calm | mental calm
peaceful | calm | serene | tranquil | at peace | restful
calm down | settle down | cool down | get calmer | become calm | compose oneself | regain one's calm | grow calm | find calm | relax | calmer
clear head | clear mind | clear-headed | clear-headedness | mental clarity | head clear | mind clear | clears one's head | clear one's head | thinks clearly | think clearly
clarity | clear-headed | clearness | clear head | clear mind | clear thinking | think clearly | lucidity | see clearly | see things clearly
alertness | alert | wide awake | wide-awake | switched on | sharp | vigilance | attentive
jitters | jittery | shaky | jumpy | on edge | shakiness | twitchy | trembly | nerves | nervous energy | shakes | edgy | nervous
shaky | trembling | tremble | shake | trembly | shaking | unsteady | quiver | tremor | quake
headache | head hurts | head ache | sore head | aching head | pounding head | throbbing head | head pounds | head aches | head throbs | migraine
eyestrain | strained eyes | tired eyes | sore eyes | eyes hurt | strain on eyes | eyes ache | eye fatigue | eyes strain | eye strain
reflective | thoughtful | pensive | contemplative | introspective | in thoughtful mood | meditative | lost in thought | given to reflection | ruminative | ponder
nostalgic | nostalgia | sentimental | miss old days | long for past | longing for past | misty-eyed | think of old times | thinks back | memories of past | wistful about past | old times | good old days
wistful | melancholy | yearning | wistfulness | bittersweet | with longing | full of longing | melancholic
tender | affectionate | soft-hearted | gentle | loving | warm-hearted | soft | tenderness
joyful | joyous | happy | full of joy | cheerful | in high spirits | merry | gleeful | joy
cheerful | cheery | in good spirits | upbeat | in good cheer | cheer up | cheers up | cheered up | happy | lifts one's spirits | sunny mood | in good mood | chirpy | merry
good mood | in good spirits | good spirits | cheerful mood | high spirits | happy mood | great mood | mood lifts | mood brightens | mood improves | lifts one's mood | brightens one's mood | cheerful | positive mood | upbeat
celebratory | festive | in mood to celebrate | feels like celebrating | mood for celebration | wants to celebrate | like celebrating | party mood | celebrate
festive | holiday spirit | in holiday mood | party mood | celebratory | holiday mood | Christmassy | festivity
motivated | driven | fired up | pumped | pumped up | motivation | raring to go | eager | full of drive | spurred on
motivational | motivating | inspiring | inspirational | uplifting | pep | rousing | encouraging
energized | energised | full of energy | invigorated | refreshed | energy boost | boost of energy | more energy | burst of energy | energetic | with energy | energy | recharged | revitalized | revitalised | pepped up | buzzing | lively | surge of energy | extra energy
inspired | inspiration | full of ideas | gets ideas | get ideas
focused | concentrated | able to concentrate | concentrate | focus | concentration | in zone | attentive | mentally sharp | focussed | undistracted
focus deeply | deep focus | concentrate hard | deep concentration | in zone | fully concentrate | concentrate deeply | full focus
productive | get lot done | gets lot done | gets things done | accomplish much | accomplish lot | efficient | productivity | on roll
organized | organised | in order | on top of things | orderly | sorted | in control | in good order | things under control
confident | self-assured | sure of oneself | self-confident | assured | more confidence | self-confidence | confidence | believes in oneself | self-assurance
proud | pride | swell with pride | full of pride
curious | curiosity | inquisitive | interested | wants to know more | wondering
satisfied | satisfaction | content | contented | fulfilled | gratified | pleased with result | fulfilment | contentment
exhilarated | thrilled | elated | on high | exhilaration | exhilarating | on top of world | ecstatic | euphoric | euphoria | elation | buzzing
uplifted | lifted | spirits lifted | lifts one's spirits | spirits rise | in better spirits | lifted up | boosted | raises one's spirits | mood lifts | spirits lift
playful | silly | goofy | frisky | mischievous | playfulness | fun mood | like playing
serene | at peace | peaceful | calm | tranquil | serenity
relax | unwind | wind down | chill out | decompress | destress | de-stress | loosen up | take it easy | chill | relaxation | calm down
relaxed | at ease | laid-back | easy | calm | loose
stressed | on edge | tense | under pressure | under stress | stressed out | strained | stress | frazzled | stressful | tension | overwrought
frustrated | annoyed | fed up | exasperated | frustration | irritated | aggravated | vexed
restless | fidgety | antsy | can't sit still | cannot sit still | restlessness | on edge | unable to sit still | unable to settle
uninformed | out of loop | out of touch | not up to date | in dark | behind on news | not informed | ignorant | clueless | not knowing what is going on | ill-informed
artistic | creative | like artist | arty | creativity | artsy
creative buzz | burst of creativity | surge of creativity | creative spark | creative energy | creative mood | creative urge | creative juices | creatively charged | creative rush
talkative | chatty | talk lot | talks lot | talks lots | talk more | won't stop talking | garrulous | loquacious | talks non-stop | doesn't stop talking | full of chat
blues | low mood | feel down | feeling down | low spirits | gloom | in dumps | glum | gloomy | feel low
groggy mood | grogginess | groggy
craving | crave | hunger for | hankering | long for | yearn for | appetite for | dying for | desire for | want | urge for | feel like | in mood for | fancy
itch | urge | wish | desire | long | want | keen | itching | eager
urge | wish | desire | want | itch | longing | feel like
solitude | be alone | on one's own | by oneself | alone | be on one's own | time alone
thrift | frugality | frugal | thrifty | economical | save money | careful with money | penny-pinching
stamina | energy | endurance | staying power
jealousy | jealous | envy | envious
fret | worry | fuss | agonise | agonize | anxious
patience | be patient | patient
fear | afraid | scared | dread
# talking and sharing
call | phone | ring | ring up | give ring | give call | make phone call | get on phone | dial | telephone | phone up | call up | make call | on phone with | speak on phone
text | message | send text | send message | send text message | fire off text | fire off message | drop text | drop line | texting
share | show | show round | pass on | pass round | show off | let see | circulate
show | let see | present | share with | hold up for | let look at
post | put online | upload | publish | put up | share online | post online | put on social media | share on social media | put on internet | share
conversation | talk | chat | small talk
strike up conversation | get talking | get chatting | start talking | start chatting | start conversation | begin conversation | get into conversation | fall into conversation | chat with strangers
invite | ask over | ask along | ask in | have over | ask round | invite over | bring along | invite along | ask to come | ask to join | have round | call over | get to come along
invitation | being invited | get invited | gets invited | be asked along | is invited | invite
ask | question | quiz | put questions | pose | ask for | inquire | enquire
feedback | comment | opinion | input | critique | what others think | reaction
encouraging | supportive | positive | kind words | encouragement
compliment | praise | kind words
say yes | accept | agree | agree to | take up | say yes to | go along | goes along | accepts
think out loud | talk to oneself | think aloud | voice one's thoughts | speak one's thoughts | say one's thoughts | speak one's mind aloud | thinks aloud
tell | recount | share | narrate | relate | talk about
record | tape | make recording | capture
voice memo | voice note | audio note | voice recording | spoken note | audio memo | recording of one's voice
laugh | giggle | chuckle | crack up | burst out laughing | burst into laughter | have laugh | share laugh | laughter | laugh out loud | in stitches
laugh together | share laugh | have laugh together | laugh with
smile | grin | beam
hug | embrace | cuddle | squeeze
sing | croon | vocalise | vocalize | break into song | burst into song
hum | humming
whistle | whistling
# writing, drawing, reading
write | pen | jot | jot down | compose | write down | put pen to paper | note down | scribble | put to paper
jot | jot down | note down | write down | scribble | write | scribble down | pen
journal | keep diary | keep journal | write in diary | write in journal | diary | make diary entry | journal entry | make journal entries | diary entry
poetry | poem | verse
affirmation | positive statement | self-affirmation | positive mantra
read | pore over | look through | leaf through | have read
revise | rework | edit | change | go over | touch up | tweak | refine | make change
improve | make better | polish | get better | refine | enhance | work on
sketch | draw | make drawing | make sketch | do sketch | drawing
doodle | scribble | draw doodle | make doodle | draw
fill | fill up | use up
notebook | notepad | jotter
sketchbook | drawing pad | sketch pad | sketchpad | drawing book
map | plot | chart | map out | plot out | plan route | work out route | trace
trail | route | path | track
# doing and handling
start | begin | get going | take up | launch | set about | get started | set out | kick off | set off | take to | embark on | get to work on
finish | complete | wrap up | get through | get done | be done with | done with | conclude | finish off | finish up | polish off | get finished | gets done
finish a novel | reach end of novel | get to end of novel
start over | begin again | from scratch | anew | start again | start afresh | start from beginning | begin afresh | begin anew | restart | redo | start all over | back to square one | do over
mess up | get wrong | wrong | botch | bungle | mix up | muddle | muddle up | mistake | make mistake | mismeasure | screw up | go wrong | error
measurement | quantity | amount | measure | proportion
lose track of time | forget time | lose sense of time | lose all sense of time | time slips away | time slips by | time flies | forget clock | lose all track of time | forgets what time it is | time gets away | not notice time
forget | slip one's mind | not remember | fail to remember | neglect | overlook
forget lunch | lunch slips one's mind | not eat lunch | miss lunch | no lunch | skip lunch | not think of lunch
lose voice | go hoarse | hoarse | voice gone | voice goes | no voice left | lose one's voice | voice gives out
recover | get better | get back to normal | bounce back | get well | back to normal | on mend | heal | be fine again | right as rain
tidy | clean up | declutter | straighten | put in order | tidy up | straighten up | neaten | clear up | sort out | clean | organise | organize
clean | scrub | tidy | wash | clean up | mop
organize | put in order | arrange | sort | sort out | tidy | reorganize
workspace | desk | work area | work space | place of work | workplace
tackle | deal with | handle | work through | take care of | get to grips with | attend to | address | take on | go through | get down to | get on with
email | mail | inbox | electronic mail
skip | miss out | go without | leave out | do without | not have | give miss | not go | miss | forgo | not eat | not bother with | don't go | doesn't go
cancel | call off | scrap | back out
walk | stroll | go for walk | take walk | amble | saunter
pace | walk up and down | walk back and forth | walk to and fro | pace up and down | pace back and forth | pace about | pace around | walk around | wander
step outside | go out | go outside | get some air | get fresh air | step out | head outside | go outdoors | out for air | head out | out of door | out for fresh air | goes outdoors
breathe slower | slow one's breathing | slow breathing | breathing slows | breath slows | slower breath | calmer breathing | breath calm
breathe easier | breathe more easily | breathe freely | breathe more freely | breathing gets easier | breathing eases | easier to breathe | breathe easy | breathing easier
sway | swing | rock | rock back and forth | move gently | swing back and forth
dance | dancing | bop | boogie
massage | rub | knead
loosen | relax | slacken | free up | unclench | loosen up
sit | take seat | sit down | have seat
settle | get comfortable | make oneself comfortable | get cosy | get cozy | settle down | sit down | curl up | sink into | nestle
wrap | bundle | bundle up | swaddle | cocoon | wrap up | huddle | snuggle | wrap oneself
wear | put on | have on | dressed in | don | in one's | sport | dress in
headphones | headset | earphones
noise-canceling | noise-cancelling | noise-blocking | noise-reducing | block out noise | blocks out noise
put on | play | turn on | start | switch on | listen to | put play
listen | hear | tune in
crank up | blast | turn up | play loudly | play loud | pump up | turn up loud | put on loud | play at full volume | played loud | loud
play | put on | listen to | spin
playlist | mix | list of songs | music list | music mix
stand-up | stand-up comedy | comedian | stand up comedy | comedy show | comic
movie | film | flick
watch | see | view | look at | look on
light | ignite | kindle | lit
candlelight | candle | light of candle | light by candle
open | pull back | draw back | throw open | draw | open up
watering | give water | water
pull | get out | dig out | take out | bring out | go through | look through | pull out | fetch
photo | picture | snap | snapshot | photograph | shot | pic | image
take photo | photograph | take picture | snap | shoot | capture on camera | take snap
spot | catch sight of | see | notice | come across | come upon | discover | sight | find
check | look at | glance at | take out | have look at | get out
window shopping | look in shop windows | browse shop windows | look at shop windows | browse shops | looking at shop window
frame | put in frame | get framed | into frame | have framed | framing
pack | get ready | put in bag | bring
set up | put up | assemble | get ready | put together
plan | make plan | schedule | map out | arrange | draw up plan | organise | organize
overplan | overschedule | plan too much | overload | pack too full | make too many plans | too many plans | plan in too much detail | over-schedule | overfill | plan excessively | cram
learn | find out | discover | pick up | get to know | come to know | teach
perspective | viewpoint | point of view | outlook | way of seeing | angle | way of looking at things
detail | fact | particular | thing
adventure | exploit | escapade | new experience
meet new friends | make friends | make new friends | find new friends | gain friends | get to know people | meet new people
show up | turn up | appear
arrive | get there | reach | turn up | come in | show up
commute | way to work | drive to work | journey to work | trip to work | travel to work | ride to work | getting to work
delay | hold-up | holdup | run late | running late | late
explore | exploration | discover | go exploring
project | undertaking | venture
task | job | to-do | duty | assignment | work
task list | to-do list | list of tasks | todo list | to-dos
chore | housework | household task | household chore | household duty
big task | major task | large task | big job | big project
coworker | colleague | workmate | co-worker | people at work | fellow worker
neighbor | neighbour | people next door | next-door neighbor | person next door
grandparent | grandma and grandpa | grandmother and grandfather | nan and grandad
strangers | people one doesn't know | people he doesn't know | people she doesn't know | people they don't know | unknown people | unfamiliar people
family recipe | recipe of family | family dish | recipe handed down
meetings | appointment
# food and drink
brew | make | prepare | make cup | fix | brew up | steep | have | put on
cook | make | prepare | fix | whip up
bake | make | prepare | put in oven | whip up
order | get | ask for | get delivered | buy
drink | sip | have | gulp | swallow
sip | drink | have | take
snack | nibble | munch | graze | eat | have snack | snacking
treat oneself | reward oneself | indulge | spoil oneself | give oneself treat | treat | treat of | reward
eat | have | devour | tuck into
breakfast | morning meal | first meal of day
big breakfast | large breakfast | hearty breakfast | huge breakfast | full breakfast
lunch | midday meal | noon meal
espresso | shot of coffee
coffee | brew | java | cup of joe
hot cocoa | hot chocolate | cocoa | drinking chocolate
smoothie | blended fruit drink | fruit shake
blend | mix | puree | put in blender | whizz | liquidise
sushi | nigiri
vegetarian | meatless | without meat | no meat | meat-free | gives up meat
# weather and places
thunderstorm | thunder and lightning | thunder | electrical storm
rainy | when it rains | in rain | raining | rain | when it is raining | showery
foggy | misty | in fog | when there is fog | fog
snow day | snowy day | day of snow | day with snow | when it snows | day it snows
sunshine | sun | sunlight | sunny
rain tapping windows | rain on window | rain against window | rain patters on window | patter of rain | sound of rain on window | rain hitting window | raindrops on window | rain beating on window | rain drumming on window
tap | patter | drum | beat | hit
mowed | cut | mown | trimmed
neighborhood | neighbourhood | around block | local | round block | nearby street | near one's home
kitchen | cooking area
couch | sofa | settee
window | windowpane | pane
curtains | drapes | blinds
houseplant | indoor plant | potted plant | plant in house | plant at home
blanket fort | fort of blankets | fort out of blankets | fort from blankets | den of blankets
Do Not Disturb | DND | silent mode | mute | block notifications | notifications off
"""
"""One group a line; what one of it says, the others say too. Articles are left out; "one's" and "oneself" stand for anybody's."""
