/**
 * The weights of the reader's features: `name=weight`.
 *
 * Learnt by scripts/reader/learn.ts from questions of our own and from public sets, by their authors: XQuAD (google-deepmind),
 * a sample of SQuAD 2.0 (Rajpurkar and others), CMRC 2018 (Cui and others) and WikiTableQuestions (Pasupat and Liang), CC BY-SA 4.0;
 * PIAF (Etalab), MIT. See test/qa/strangers/README.md.
 */
export const readerWeights = `
above=1.64 address=-0.117 answers=0.0768 answers:around=0.749 answers:cost=-0.126 answers:count=0.409
answers:de=0.179 answers:duration=0.795 answers:en=0.266 answers:es=0.175 answers:fr=0.132 answers:item=-0.271
answers:often=0.725 answers:paragraph=0.127 answers:row=-0.482 answers:when=0.365 answers:where=-0.248
answers:who=-0.407 answers:why=-0.259 answers:zh=-0.0114 around=0.305 around:asked:cost=4.65 around:asked:count=2.37
around:asked:definition=-3.32 around:asked:duration=2.41 around:asked:how=-4.83 around:asked:often=-2.2
around:asked:other=-2.22 around:asked:when=3.79 around:asked:where=2.04 around:asked:whether=3.36
around:asked:which=-0.594 around:asked:who=-0.399 around:asked:why=5.86 around:de=2.04 around:en=-0.366
around:es=1.67 around:first=1.09 around:focus=0.306 around:fr=-0.956 around:heaviest=-0.352 around:lacks=-0.406
around:last=0.748 around:lead=0.844 around:missing=-2.38 around:names=-0.382 around:rank=1.28 around:zh=4.05
asked=-0.334 before=0.509 caption=-0.86 defines=0.0383 density=0.211 ends=-0.2 exact=-1.19 exact:lead=-0.00663
exact:rank=-0.141 fresh=0.0208 heading=0.946 item=-1.32 item:around=2.88 item:own=-2.67 label=-0.612 labelKnown=1.46
language:de=0.481 language:en=-0.451 language:es=-1.44 language:fr=-0.251 language:zh=-2.99 leads=-0.77 length=0.662
listed=0.145 long=-0.396 matches=2.34 negates=-0.0179 next=0.607 numbers=0.0817 numbers:paragraph=0.321
numbers:row=0.00254 otherNumbers=-0.325 own=-0.485 own:asked:cost=-4.41 own:asked:count=-2.58
own:asked:definition=0.678 own:asked:duration=-0.968 own:asked:how=1.52 own:asked:often=0.66 own:asked:other=2.19
own:asked:when=-2.12 own:asked:where=-1.58 own:asked:whether=-2.25 own:asked:which=-0.268 own:asked:who=-0.345
own:asked:why=-3.1 own:de=-0.52 own:en=-0.993 own:es=-0.998 own:first=-0.542 own:focus=0.353 own:fr=-0.306
own:heaviest=-0.048 own:lacks=-0.278 own:last=-0.248 own:lead=0.126 own:missing=-1.09 own:names=-0.177
own:rank=0.107 own:zh=-1.34 paragraph=-0.744 paragraph:around=0.389 paragraph:own=-0.693 passage:0=0.199
passage:1=-1.08 passage:2=-1.37 pronoun=0.127 pronoun:before=1.13 rest=2.75 rest:lead=0.229 rest:rank=-0.433
row=1.23 row:around=-2.3 row:own=-0.628 rowOfOther=0.199 run=-0.349 short=0.58 terms:1=-2.31 terms:2=-1.26
terms:3=-1.47 terms:4=-1.02 terms:5=-0.858 terms:6=-0.865 title=-1.57 topic=-0.546 whole=0.418
whole:asked:cost=-0.296 whole:asked:count=-0.499 whole:asked:definition=3.89 whole:asked:duration=0.261
whole:asked:how=4.63 whole:asked:often=2.03 whole:asked:other=1.79 whole:asked:when=-1.03 whole:asked:where=1.16
whole:asked:whether=0.589 whole:asked:which=1.94 whole:asked:who=1.86 whole:asked:why=-1.87 whole:de=-0.696
whole:en=0.579 whole:es=2 whole:first=-0.323 whole:focus=-0.696 whole:fr=1.51 whole:heaviest=0.152 whole:lacks=0.125
whole:last=-0.0486 whole:missing=0.885 whole:names=3.06 whole:zh=0.76 words=2.03 words:lead=0.493 words:rank=0.207
bias=-2.57
`
