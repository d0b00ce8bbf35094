"""Given names, for where a sentence begins with one: any word has a capital there, and the lexicon knows a river of many names.

Names that are everyday words as well, like Rose, Ginger and Will, are not among them.
"""

from __future__ import annotations

from typing import Final

GIVEN: Final = frozenset(
    """
    aaron abdul abigail ada adam adele adrian agnes ahmed aidan aisha akira alan alana albert alberto alec alejandro
    alex alexander alexandra alexis alfie alfred ali alice alina alison alva alvin amanda amara amelia amina amir amit
    amos amy ana anastasia anatole anders andre andrea andreas andrew andy angela angelina angelo angus anika anita anja
    ann anna anne annette annie anthony antoine anton antonia antonio anya archie ariana arjun arlo arne arnold artem
    arthur arturo asha ashley ashok astrid audrey augusta ava avery axel ayla aziz barbara bea bela ben benjamin
    bernadette bernard bernd bert bertha beth betty beverly bianca billy birgit bjorn blake bob bobby boris brad bradley
    bram brandon brenda brendan brian bridget brigitte bruce bruno bryan byron calvin camila camille carina carl carla
    carlo carlos carlotta carmen caroline carolyn carrie casey caspar cassandra catherine cecilia cedric celia celine
    cesar chandra chantal charles charlotte cheryl chiara chloe chris christina christine christoph christophe
    christopher cindy claire clara clarence claude claudia clemens clive clyde cody colin connie connor conrad cora
    cornelia craig curtis cynthia cyrus dagmar dalia damian damien dan dana dani daniel daniela danielle danny daphne
    daria dario darius darren dave david davide dawit deb deborah debra deepak deirdre delia della denise dennis derek
    desmond devin diana diane diego dieter dimitri dina dirk dmitri dolores dominic dominik donald donna dora dorian
    doris dorothy doug douglas dustin dwight dylan eddie edgar edith edmund edna eduardo edward edwin effie eileen
    elaine eleanor elena eli elias elif elijah eliot elisa elise eliza elizabeth elke ella ellen elliot elliott elmer
    eloise elsa elvira emil emilia emilio emily emma emmanuel enrico enrique enzo eric erica erich erik erika erin
    ernest ernesto esme esteban estelle esther ethan ethel etta eugene eugenia eva evan evelyn ewa ewan ezra fabian
    fabio farah farid fatima federico felicia felipe felix femi fergus fernanda fernando fidel filip filippo finley finn
    fiona flora florian frances francesca francesco francine francis francisco franco francois franz fred freddie
    frederick frederik freya frida frieda fritz gabriel gabriela gabrielle garrett gary gavin gemma geoff geoffrey
    george georgina gerald gertrude giles gillian gina gino giorgio giovanna giovanni giulia giulio giuseppe gladys
    glenda glenn gloria gordon graham gregor gregory greta gretchen guido guillermo gunther gus gustav gwen gwendolyn
    hadley hal hana hank hanna hannah hannes hans harold harriet harry haruki harvey hassan heidi heike heinrich helen
    helena helga henri henrietta henrik henry herbert herman hilary hilda hilde hiro hiroshi holger horst howard hubert
    hugh hugo humphrey ian ibrahim ida ignacio igor ilka ilse ilya imani imogen imran ines inez inga ingrid inigo ira
    irene irina irma isaac isabel isabella isabelle isadora isaiah ismael ismail ivan ivana ivo jackie jackson jacob
    jacqueline jaime jake jamal james jamie jana jane janet janice janine jared jarek jason jasper javier jayden
    jeanette jeanne jeff jeffrey jenna jennie jennifer jenny jens jeremy jerome jerry jesper jess jesse jessica jessie
    jill jim joachim joan joanna joanne joaquin jodie joe joel joey johan johann johanna johannes john johnny jolene jon
    jonah jonas jonathan jonathon joost jordi jorge joris jose josef josefina joseph josephine josh joshua josie joyce
    juan juanita judith judy julia julian juliana julie julien juliet julius jurgen justin jutta kai kaitlyn kamal kaori
    kara kareem karen karim karin karina karl karla karolina kasper kate katerina katharina katherine kathleen kathryn
    kathy katie katja katrin katrina katya kay kayla keira keith kelly kelvin ken kendra kenji kenneth kenny kerry kevin
    khalid kieran kim kimberly kira kirsten kirsty klara klaus knut kofi konrad kris krista kristen kristian kristin
    kristina kurt kwame kyle lachlan laila lamar lana lara larry lars lasse laura lauren laurence laurent laurie
    lawrence layla leah leandro lee leif leila lela lena lenny leo leon leonard leonardo leonie leopold leslie leticia
    lewis lia liam liana lidia lila lilian liliana lillian lin lina linda linus lionel lisa livia liz logan lois lola
    lorena lorenzo lori lorna lorraine lotte lottie lou louis louisa louise luc luca lucas lucia lucian luciana lucille
    lucinda lucy ludo luigi luis luisa lukas luke luther lydia lyle lynn mabel maddie madeleine madeline mae maeve magda
    maggie mahmoud maisie malcolm malik mandy manfred manuel manuela mara marc marcel marcela marcella marcelo marcia
    marco marcus margaret margarita margot marguerite maria mariam mariana marianne marie mariela marilyn mario marion
    marisa marisol marissa marjorie marlene marlon marta martha martin martina marty marvin mary mateo matilda matt
    matteo matthew matthias maud maureen maurice mauricio mavis max maximilian maxine maya meera megan mehdi mehmet
    melanie melissa melvin meredith merle meryl mia michael michaela micheal michel michelle miguel mikael mike mikhail
    mila mildred milena millie milo milton mimi mina minna minnie mira miranda miriam moe mohamed mohammed moira molly
    mona monica monika monique morgan moritz mortimer moses muhammad muriel murray myra nadia nadine nadja naima nancy
    nanette naomi nasser natalie natasha nate nathan nathaniel ned neil nell nerys nestor neville nia niall niamh
    nicholas nico nicola nicolai nicolas nicole nicolette niels nigel nikhil nikita nikki niko nikolai nils nina noah
    noel nolan noor nora noreen norma norman odette olaf oleg olena olga oliver olivia olivier ollie omar omari orla
    orson osama oscar oskar osman oswald otis otto owen pablo paddy pam pamela paolo pascal patrice patricia patricio
    patrick patsy patti paul paula paulina pauline paulo pavel payton pedro peggy penelope percy perry peter petr petra
    petros phil philip philippa philippe phoebe phyllis pia pierre piet polly priya quentin quincy quinn rachael rachel
    rafael rafaela rahul raimund rainer raisa raj rajesh ralf ralph ramon ramona randall randolph randy rania raphael
    raquel rashid raul ravi raymond rebecca rebekah reggie reinhard remy rene renee reynold reza rhett rhoda rhonda rhys
    ricardo richard rick ricky riley rita robbie robert roberta roberto robin robyn rocco roderick rodney rodrigo roger
    roland rolf romy ron ronald ronan ronnie rory rosa rosalie rosalind rosalyn rosemarie ross roxanne roy ruben rudi
    rudolf rudy rufus rupert russell rutger ruth ryan sabina sabine sabrina sadie safiya salim sally salma salome sam
    samantha sami samir samira samuel sandra sandro sanjay sara sarah sasha saskia saul scott sean sebastian selena
    selma serena serge sergei sergio seth seymour shane shanice shannon sharif sharon shaun shauna shawn sheila sheldon
    shira shirley sia sid siegfried sigrid silas silvia silvio simon simona simone sina sinead siobhan sofia solange
    solomon sonia sonja sonya sophia sophie soren spencer stacey stacy stan stanley stefan stefanie stella stephan
    stephanie stephen steve steven stuart suki sunil suresh susan susanna susanne susie suzanne sven sylvester sylvia
    sylvie tabitha takeshi tamara tamsin tania tanya tara tariq tatiana ted teddy teodor terence teresa terry tess tessa
    thaddeus thea thelma theo theodor theodora theodore theresa therese thiago thomas thorsten tilda tilly tim timo
    timothy tina tobias toby todd tom tomas tommy toni tony torsten tove tracey tracy travis trent trevor tricia trina
    tristan trudy tyler tyrone ugo ulf ulla ulrich ulrike ursula uwe valentin valentina valentino valeria valerie
    vanessa vera vernon veronica vicki vicky victor vik vikram viktor vincent vincenzo vito vivian vivien vivienne
    vladimir volker waldo wallace walter wanda wayne wendy werner wes wilbur wilfred wilhelm willa willem william willie
    wilma wim winifred winnie winston wolfgang wyatt xander xavier ximena yael yara yasmin yasmine yoko yolanda yosef
    yuki yuri yusuf yvette yvonne zachary zack zain zainab zane zara zeke zelda zoe zoltan zora zuri zuzana
    """.split()
)
