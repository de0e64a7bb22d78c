/**
 * All thresholds of the figure finder.
 *
 * Units: `pt` points of the page; `em` font sizes of the text in question; `share` 0 to 1 (or a factor) of what the
 * comment names; `count`; `score` 0 to 1. Most values were set on the marked pages that `sluice eval figures` reads.
 */
export const Tolerances = {
  /** Joining runs to segments. */
  segments: {
    gap: 1, // em: a wider gap on a line separates columns, cells, or labels
    labelGap: 2.6, // em: justified lines stretch the space in "Figure   3"
    markGap: 3, // em: from a list's bullet or number to its text
    maxSegments: 4_000, // count: pages with more are maps or plots; the longest segments suffice
    maxGraphics: 8_000, // count: as above; the largest graphics suffice
    boldShare: 0.7, // share of a segment's characters
    monoShare: 0.6, // share of a segment's characters
    anchorHeight: 10 // pt: height of the empty run that marks the position of a figure
  },

  /** Drawings that repeat at one place of many pages: lines under headers, logos, frames. */
  repeated: {
    grid: 2, // pt: boxes that differ less are at one place
    minPages: 3, // count: a drawing on fewer pages is no repetition
    minShare: 0.3, // share of all pages, anywhere on the page
    edge: 0.12, // share of the page's height at the top and the bottom, where headers and footers are
    minEdgeShare: 0.1 // share of all pages at these edges
  },

  /** Columns, paragraphs and headings. */
  bodyText: {
    flowingLines: 3, // count: this many lines that end early flow around something; fewer end a paragraph
    earlyEnd: 0.2, // share of the block's width: a line that ends this far before the edge ends early
    maxLineStep: 60, // pt: no leading is larger
    minLeading: 0.6, // em: lines that are closer share a row
    maxLeading: 1.45, // em: usual leading, where the document has a smaller one
    leadingSlack: 1.2, // share of the document's leading
    sameSize: 0.08, // share of the font size: rounding of sizes in PDFs
    maxIndent: 3, // em: of a paragraph's first line
    sameLeft: 3, // pt: edges that differ less are aligned
    proseLineLetters: 25, // count: shorter lines are labels
    fullLines: 0.6, // share of lines that reach the right edge of a paragraph
    letterShare: 0.6, // share of characters that are letters; numbers and formulas have fewer
    bodySize: 0.1, // share of the body's font size
    sameColumn: 5, // pt: left edges of one column
    ownColumnLines: 25, // count: a page with fewer lines of text takes over the document's columns
    rightEdgeRank: 0.6, // share: rank of the right edge that counts; ragged lines end before it
    columnOverlap: 0.25, // share of the narrower column
    leadingPages: 40, // count: pages measured for the leading
    leadingSize: 0.6, // pt: difference from the body's font size
    leadingReach: 8, // count: segments in which the next line of the column is looked for
    leastLeading: 0.7, // em: smaller steps are not leading
    mostLeading: 2.2, // em: larger steps are gaps between paragraphs
    defaultLeading: 1.2, // em: usual in print
    minColumnLines: 4, // count: fewer lines show no column
    cellOverlap: 1, // pt: cells of one row overlap less
    columnSlack: 8, // pt: cells may reach this far over their column
    inColumn: 0.6, // share of a text's width within its column; also of a column's width in a paragraph
    minBodySize: 0.93, // share of the body's font size: smaller text is a caption or a note
    maxParagraphSize: 1.35, // share of the body's font size: larger paragraphs are slides and abstracts
    maxLineSize: 1.15, // share of the body's font size: a larger single line is a title
    wideParagraph: 30, // em: width of a paragraph across columns
    edgeIndent: 4, // em: from the column's edge to the paragraph
    cellLines: 0.4, // share of lines with other text beside them: more is a table
    shortParagraph: 3, // count: lines; longer paragraphs may be anywhere in the column
    fullWidth: 0.85, // share of the column's width, for text of another size
    insideSlack: 1, // pt: a line of a paragraph may reach out of its box
    largerSize: 1.12, // share of the body's font size: headings
    minHeadingSize: 0.9, // share of the body's font size: bold headings
    outdent: 4, // pt: left of the column's edge
    titleSize: 1.3, // share of the body's font size: titles may be centred
    lineIndent: 4.5, // em: of single lines of running text
    sentenceWords: 3, // count: shorter lines that end with a stop may be labels …
    sentenceLetters: 10 // count: … unless they have more letters than this (Chinese has no spaces)
  },

  /** Captions, their first lines and their further lines. */
  captions: {
    maxLines: 16, // count: longer captions are paragraphs
    maxPieces: 40, // count: a line of more pieces is a row of a table
    maxCaptions: 60, // count: a page with more is a list of figures
    labelEnd: 1, // count: characters between the end of the label and the change of font
    looseLeading: 1.4, // em: from the line above to a reference within a paragraph
    leadingSlack: 1.15, // share of the document's leading
    sameSize: 0.06, // share of the font size: text of one paragraph
    samePieceSize: 0.08, // share of the font size: pieces of one line
    sameCaptionSize: 0.13, // share of the font size: labels are often set smaller or larger
    firstLineIndent: 3, // em: left of the line above
    minLineAbove: 14, // em: shorter lines above are labels or headings
    sameLine: 0.6, // share of the lower text's height that overlaps
    touching: -1, // pt: pieces of a line overlap at most this much
    ruleSlack: 0.35, // share of a line's height: a rule may cut into the line's box
    ruleOverlap: 0.3, // share of the narrower of rule and text
    sameEdge: 4, // pt: aligned edges and centres of lines
    sameLeft: 3, // pt: aligned left edges of text
    sameMiddle: 6, // pt: twice the distance of two centres
    pieceGap: 2.6, // em: widest gap within one line of a caption
    belowOther: 2, // pt: below the first line of another caption …
    reachOfOther: 6, // em: … within this distance text belongs to that caption
    columnSlack: 6, // pt: captions may reach over their column
    minStep: 0.6, // em: from line to line; closer texts share a line
    maxStep: 1.45, // em: from line to line
    stepLeading: 1.1, // share of the document's leading
    lineOverlap: 0.4, // share of the narrower of two lines
    labelLetters: 24, // count: a shorter first line may be the label alone
    earlyEnd: 3, // em: a line with a stop that leaves more room ends the caption
    leftOutdent: 40, // pt: a further line may begin this far left of a label set off to the right
    leftOutdentWithoutColumn: 200, // pt: added where no column limits the caption
    besideShare: 0.8 // share of a text's width within the column: text beside a line makes a row of it
  },

  /** Horizontal ranges of figures. */
  ranges: {
    margin: 4, // pt: between a column and items beside it
    flow: 24, // pt: text beside a caption limits its figure where it is this near in height
    around: 160, // pt: from two captions, where the gap between their figures is looked for
    maxTries: 2_000, // count: places tried for that gap
    step: 2, // pt: between these places
    columnSlack: 10, // pt: captions may reach over their column
    edgeSlack: 2, // pt: neighbours may touch or overlap
    sameLine: 0.3, // share of the lower caption's height that overlaps: captions side by side
    staggeredOverlap: 2, // pt: captions of figures side by side overlap less
    widerBy: 1.2, // factor by which a range across columns must be wider
    sameSize: 0.03, // share of the font size: further lines of the caption in another column
    otherSize: 0.04, // share of the body's font size by which they differ from running text
    maxPieceWidth: 0.6 // share of the page's width: wider items are of neither figure alone
  },

  /** Regions above and below captions. */
  regions: {
    firstGap: 60, // pt: from the caption to the figure
    graphicGap: 56, // pt: between drawings of one figure
    textGap: 2.6, // em: from drawings to labels
    cutGap: 0.9, // em: a region may end at such a gap where another caption wants the rest
    maxCuts: 8, // count: ends tried for a region, the widest gaps first
    reachIn: 12, // pt: what reaches further into a range blocks it …
    reachInShare: 0.3, // share: … or by this much of its own width
    rangeShare: 0.6, // share of the range: wide drawings belong to it though they reach out of it
    middleSlack: 1, // pt: the middle of an item is past the caption's edge
    startSlack: 4, // pt: its edge may begin beside the caption
    ruleShare: 0.8, // share of a rule's width within the range
    minRule: 30, // pt: shorter lines are fractions and underlines
    sameEdge: 4, // pt: rules of one table have the same ends
    lastRule: 1, // pt: the last rule may touch the running text below it
    overlapEnd: 14, // pt: items may reach into the text that limits the region
    pastEnd: 2, // pt: as above, for items outside the range
    rounds: 3, // count: how often a region is widened
    besideHeight: 0.7, // share of an item's height at the height of the region
    besideText: 0.3, // share of a text's width within the region
    besideDrawing: 1, // pt: overlap of a drawing with the region
    tableEdge: 3, // pt: text may reach over the rules of its table
    unnumberedGap: 2, // em: from a caption without a number to its figure
    unnumberedContent: 0.8, // score: without a number the content must be clear
    unnumberedHeight: 40, // pt: of a figure without a number
    keptHeight: 0.8, // share of the narrow region's height that the one across columns must have
    reachesPast: 2 // pt: a region beside the caption extends past the end of the one above or below
  },

  /** Regions beside captions. */
  beside: {
    maxDistance: 200, // pt: from a caption in the margin to its figure
    near: 8, // pt: between parts of one figure
    heightSlack: 4, // pt: above and below the caption
    edgeSlack: 2, // pt: caption and figure may touch
    minArea: 400, // pt²: smaller drawings are marks
    minRule: 60, // pt: shorter lines are no rules of a table
    sameEdge: 4, // pt: rules of one table have the same ends
    rounds: 4 // count: how often a region is widened
  },

  /** Notes and text at the end of a region. */
  notes: {
    maxBeyond: 3, // em: text reaches this far beyond the drawings
    titleGap: 0.6, // em: from the drawings to a title of theirs
    smallPrint: 0.97, // share of the body's font size: smaller text is of the figure
    drawnShare: [0.5, 0.4], // share of the region's width and height that is drawn
    noteOverlap: 3, // pt: a note may reach into the drawings
    aboveNote: 1, // pt: what is kept ends above the note
    minItems: 2 // count: fewer items left are no region
  },

  /** How much a region looks like a figure or a table; scores 0 to 1. */
  content: {
    minWidth: 20, // pt
    minHeight: 8, // pt
    rowStep: 5, // pt: texts in the same step are one row
    minRules: 2, // count: rules of a table
    minGridRows: 2, // count: rows with several texts
    tableImage: 0.8, // score: scanned tables
    tableText: 0.35, // score: text alone is rarely a table
    nothing: 0.1, // score: no text and hardly a drawing
    coveredShare: 0.15, // share of the region covered by pictures
    manyDrawings: 8, // count: a drawing of many lines
    fewDrawings: 2, // count
    someDrawings: 0.8, // score of few drawings
    someTexts: 2, // count: more texts may be labels
    labels: 0.45, // score of labels without a drawing
    hardlyText: 0.15 // score
  },

  /** Choice of regions for captions. */
  assignment: {
    /** Counts before anything is known: captions of figures are mostly below, those of tables above. */
    priorPreference: {
      figure: { above: 1.2, below: 0.3, left: 0.1, right: 0.1 },
      table: { above: 0.5, below: 0.8, left: 0.05, right: 0.05 }
    },
    minContent: 0.4, // score: a region below this shows nothing of what the caption announces
    preferenceWeight: 0.9, // score for the side on which the document always has its figures
    gapWeight: 90, // pt that cost as much as the whole content
    maxOverlap: 0.1, // share of the smaller region
    clearContent: 0.6, // score: a region that counts for the preference
    maxSteps: 20_000 // count: choices tried for one page
  },

  /** Drawings of a page, and pages that are measured. */
  figures: {
    maxHeightShare: 0.8, // share of the page's height: higher drawings are borders
    samplePages: 60 // count: pages on which the running text is measured
  },

  /** Rectangles that enclose figures. */
  frames: {
    maxFrames: 400, // count: more rectangles are a drawing
    paperShare: 0.7, // share of the page: what fills more is the background
    minWidth: 60, // pt: narrower frames are boxes of a diagram
    minHeight: 25, // pt
    maxHorizontal: 80, // count: horizontal lines checked
    minVertical: 20, // pt: shorter lines are ticks
    maxVertical: 200, // count: vertical lines checked
    sameEnd: 3, // pt: top and bottom of a frame have the same ends
    atCorner: 4, // pt: from a side to the corner
    sideShare: 0.9 // share of the frame's height that a side covers
  },

  /** Rows and cells of tables. */
  tables: {
    maxColumns: 40, // count: more are drawings
    maxRows: 500, // count: more are drawings
    maxRuns: 5_000, // count: pieces of text
    maxWidth: 20_000, // pt
    cellGap: 0.75, // em: between cells of a row
    maxCrossing: 0.25, // share of rows that may cross the gap between two columns: heads that span columns
    sameLine: 3, // pt: vertical lines that are closer are one
    insideEdge: 4, // pt: lines nearer to the table's edge are its border
    crosses: 2, // pt: text crosses a line when it reaches this far over it on both sides
    minColumnGap: 3, // pt: between two columns
    atEdge: 2, // pt: gaps nearer to the table's edge are none
    minRuns: 4, // count: fewer texts are no table
    minColumns: 2, // count
    minRows: 2, // count
    ruleShare: 0.6, // share of the table's width: shorter rules span columns
    sameRule: 2, // pt: horizontal lines that are closer are one
    atRule: 4, // pt: from a gap between columns to its vertical line
    minBands: 2, // count: rules within the table that separate rows
    linesPerBand: 4, // count: of more lines between two rules each is a row
    startSlack: 1, // pt: a cell that spans columns begins in its first one
    ruleOverlap: 3, // pt: text may touch the rule between two rows
    continuedCells: 3, // share, as a divisor: a row that continues fills at most a third of the columns
    continuedGap: 0.6, // share of the line's height to the line that it continues
    filledShare: 0.3, // share of cells with text: fewer are no grid
    minCellWidth: 8, // pt: smaller rectangles are marks
    minCellHeight: 4, // pt
    sameHeight: 1.5, // pt: pieces of one rule
    joinGap: 4, // pt: between pieces of one rule
    maxRules: 2000 // count: more lines are a drawing
  },

  /** Scanned pages and pictures of text. */
  scans: {
    maxScanCharacters: 40, // count: a page with more is no scan
    scanShare: 0.4, // share of the page covered by images
    imageShare: 0.05, // share of the page covered by images, without any text
    pictureShare: 0.4, // share of a figure covered by images
    maxPictureCharacters: 12, // count: a figure with more has text of its own
    sameHeight: 0.4, // share of the usual height: letters without ascenders are lower
    sizeOfHeight: 0.85 // share: font size of a line's height
  },

  /** Figures and tables of tagged PDFs, joined to those found by captions. */
  tagged: {
    sameTable: 0.8, // share of a table's text in the cells of the tagged one
    maxOverlap: 0.1, // share of the smaller one: more is a conflict
    maxFigures: 200, // count: on one page
    minRepeats: 3 // count: the same on this many pages is a logo
  },

  taggedFigures: {
    minSide: 24, // pt: smaller figures are marks
    minShare: 0.005, // share of the page, with an alternative text
    minUndescribedShare: 0.015, // share of the page, without one: ornaments are small
    maxCharacters: 1_500 // count: more is text that is tagged as a figure
  },

  taggedTables: {
    maxTables: 50, // count: on one page
    minCells: 4, // count: tables with fewer arrange other things
    minRowsAndColumns: 2, // count
    maxCellCharacters: 300, // count, of the median cell: more are columns of text
    maxRepeatedCharacters: 100_000, // count: text repeated by cells that span rows and columns
    foreignShare: 0.05, // share of the text within a table that is in no cell: more shows missing cells
    rowSlack: 0.4, // share of a line's height by which rows may overlap
    columnSlack: 2, // pt by which columns may overlap
    ruleReach: 12, // pt: from the text to the rules above and below
    ruleOverText: 0.8 // share of the table's width that a rule covers
  }
} as const
