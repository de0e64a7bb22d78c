/** The words of the questions that `made.ts` makes. */

export interface Language {
  readonly things: ReadonlyArray<string>
  readonly places: ReadonlyArray<string>
  readonly people: ReadonlyArray<string>
  /** The name of an attribute, a value with `#` for a number, and questions with `*` for the thing. */
  readonly attributes: ReadonlyArray<
    readonly [name: string, value: string, ...questions: ReadonlyArray<string>]
  >
  /** Facts in prose: what is asked, the sentence (`*` the thing, `#` the answer), and questions. */
  readonly facts: ReadonlyArray<
    readonly [
      kind: "place" | "person" | "year" | "number" | "reason",
      sentence: string,
      ...questions: ReadonlyArray<string>
    ]
  >
  readonly reasons: ReadonlyArray<string>
  readonly filler: ReadonlyArray<string>
  readonly heading: string
  readonly name: string
  /** A pronoun for any thing, at the beginning of a sentence. */
  readonly it: string
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  en: {
    things: [
      "old mill",
      "ferry",
      "green tractor",
      "school kitchen",
      "north tower",
      "boat shed",
      "glass house",
      "printer",
      "water pump",
      "reading room",
      "brass bell",
      "oak bridge",
      "bakery",
      "rescue boat",
      "cable car",
      "sports hall"
    ],
    places: [
      "behind the church",
      "on the second floor",
      "in Westmoor",
      "next to the harbour office",
      "at the end of Kiln Lane",
      "in the cellar"
    ],
    people: [
      "Anna Reuter",
      "Tom Falk",
      "the caretaker",
      "Maria Okafor",
      "the harbour office",
      "Dr Lindqvist"
    ],
    attributes: [
      ["height", "# m", "How high is the *?", "What is the height of the *?"],
      ["weight", "# kg", "How much does the * weigh?", "What is the weight of the *?", "How heavy is the *?"],
      ["price", "# euros", "How much does the * cost?", "What is the price of the *?"],
      ["capacity", "# litres", "What is the capacity of the *?", "How many litres does the * hold?"],
      ["seats", "#", "How many seats does the * have?", "number of seats of the *"],
      ["opening time", "#:00", "When does the * open?", "What is the opening time of the *?"],
      ["power", "# kW", "What power does the * have?", "How many kW does the * use?"]
    ],
    facts: [
      ["place", "The * stands #.", "Where is the *?", "Where can I find the *?"],
      ["person", "# looks after the *.", "Who looks after the *?", "Who is in charge of the *?"],
      ["year", "The * was built in #.", "When was the * built?", "In which year was the * built?"],
      ["number", "The * has # windows.", "How many windows does the * have?"],
      ["person", "The * was painted by #.", "Who painted the *?", "By whom was the * painted?"],
      ["year", "In #, the * was repaired.", "When was the * repaired?"],
      ["reason", "The * is closed because #.", "Why is the * closed?"],
      ["number", "The * may be used by # people at most.", "How many people may use the *?"]
    ],
    reasons: ["the roof leaks", "the heating failed", "the road is flooded"],
    filler: [
      "The * is popular with visitors.",
      "Many people ask about the *.",
      "The * belongs to the village.",
      "In winter the * looks its best."
    ],
    heading: "Overview",
    name: "Name",
    it: "It"
  },
  de: {
    things: [
      "Mühle",
      "Fähre",
      "Schulküche",
      "Nordturm",
      "Bootshaus",
      "Gewächshaus",
      "Drucker",
      "Wasserpumpe",
      "Lesesaal",
      "Glocke",
      "Brücke",
      "Bäckerei",
      "Seilbahn",
      "Sporthalle",
      "Werkstatt",
      "Bücherei"
    ],
    places: [
      "hinter der Kirche",
      "im zweiten Stock",
      "in Westmoor",
      "neben dem Hafenamt",
      "am Ende der Ofengasse",
      "im Keller"
    ],
    people: ["Anna Reuter", "Tom Falk", "Frau Okafor", "das Hafenamt", "Dr. Lindqvist"],
    attributes: [
      ["Höhe", "# m", "Wie hoch ist *?", "Welche Höhe hat *?"],
      ["Gewicht", "# kg", "Wie schwer ist *?", "Wie viel wiegt *?", "Welches Gewicht hat *?"],
      ["Preis", "# Euro", "Was kostet *?", "Wie viel kostet *?", "Wie hoch ist der Preis für *?"],
      ["Fassungsvermögen", "# Liter", "Welches Fassungsvermögen hat *?", "Wie viele Liter fasst *?"],
      ["Plätze", "#", "Wie viele Plätze hat *?"],
      ["Öffnung", "#:00 Uhr", "Wann öffnet *?", "Um wie viel Uhr öffnet *?"],
      ["Leistung", "# kW", "Welche Leistung hat *?", "Wie viel Kilowatt hat *?"]
    ],
    facts: [
      ["place", "* steht #.", "Wo steht *?", "Wo finde ich *?"],
      ["person", "Für * ist # zuständig.", "Wer ist für * zuständig?", "Wer kümmert sich um *?"],
      ["year", "* wurde # gebaut.", "Wann wurde * gebaut?", "In welchem Jahr wurde * gebaut?"],
      ["number", "* hat # Fenster.", "Wie viele Fenster hat *?"],
      ["person", "* wurde von # gestrichen.", "Wer hat * gestrichen?", "Von wem wurde * gestrichen?"],
      ["year", "Im Jahr # wurde * repariert.", "Wann wurde * repariert?"],
      ["reason", "* ist geschlossen, weil #.", "Warum ist * geschlossen?"],
      ["number", "* darf von höchstens # Personen benutzt werden.", "Wie viele Personen dürfen * benutzen?"]
    ],
    reasons: ["das Dach undicht ist", "die Heizung ausgefallen ist", "die Straße überflutet ist"],
    filler: [
      "* ist bei Besuchern beliebt.",
      "Viele fragen nach *.",
      "* gehört dem Dorf.",
      "Im Winter ist * am schönsten."
    ],
    heading: "Übersicht",
    name: "Name",
    it: "Sie"
  },
  fr: {
    things: [
      "le moulin",
      "le bac",
      "la cuisine",
      "la tour nord",
      "le hangar",
      "la serre",
      "l'imprimante",
      "la pompe",
      "la salle de lecture",
      "la cloche",
      "le pont",
      "la boulangerie",
      "le téléphérique",
      "la salle de sport",
      "l'atelier",
      "la bibliothèque"
    ],
    places: [
      "derrière l'église",
      "au deuxième étage",
      "à Valmont",
      "à côté de la capitainerie",
      "au bout de la rue du Four",
      "à la cave"
    ],
    people: ["Anne Reuter", "Thomas Falk", "Mme Okafor", "la capitainerie", "le gardien"],
    attributes: [
      ["hauteur", "# m", "Quelle est la hauteur de * ?", "Combien mesure * ?"],
      ["poids", "# kg", "Quel est le poids de * ?", "Combien pèse * ?"],
      ["prix", "# euros", "Combien coûte * ?", "Quel est le prix de * ?"],
      ["capacité", "# litres", "Quelle est la capacité de * ?", "Combien de litres contient * ?"],
      ["places", "#", "Combien de places a * ?"],
      ["ouverture", "# h 00", "Quand ouvre * ?", "À quelle heure ouvre * ?"],
      ["puissance", "# kW", "Quelle est la puissance de * ?"]
    ],
    facts: [
      ["place", "* se trouve #.", "Où se trouve * ?", "Où est * ?"],
      ["person", "# s'occupe de *.", "Qui s'occupe de * ?", "Qui est responsable de * ?"],
      ["year", "* date de #.", "De quand date * ?", "En quelle année a été construit * ?"],
      ["number", "* a # fenêtres.", "Combien de fenêtres a * ?"],
      ["person", "* a été peint par #.", "Qui a peint * ?", "Par qui a été peint * ?"],
      ["year", "En #, on a réparé *.", "Quand a-t-on réparé * ?"],
      ["reason", "* est fermé parce que #.", "Pourquoi * est-il fermé ?"],
      ["number", "* accueille # personnes au plus.", "Combien de personnes accueille * ?"]
    ],
    reasons: ["le toit fuit", "le chauffage est en panne", "la route est inondée"],
    filler: [
      "* plaît aux visiteurs.",
      "On demande souvent *.",
      "* appartient au village.",
      "En hiver, * est très beau."
    ],
    heading: "Aperçu",
    name: "Nom",
    it: "Il"
  },
  es: {
    things: [
      "el molino",
      "el ferry",
      "la cocina",
      "la torre norte",
      "el cobertizo",
      "el invernadero",
      "la impresora",
      "la bomba",
      "la sala de lectura",
      "la campana",
      "el puente",
      "la panadería",
      "el teleférico",
      "el gimnasio",
      "el taller",
      "la biblioteca"
    ],
    places: [
      "detrás de la iglesia",
      "en el segundo piso",
      "en Valverde",
      "junto a la capitanía",
      "al final de la calle del Horno",
      "en el sótano"
    ],
    people: ["Ana Reuter", "Tomás Falk", "la señora Okafor", "la capitanía", "el conserje"],
    attributes: [
      ["altura", "# m", "¿Qué altura tiene *?", "¿Cuánto mide *?"],
      ["peso", "# kg", "¿Cuánto pesa *?", "¿Cuál es el peso de *?"],
      ["precio", "# euros", "¿Cuánto cuesta *?", "¿Cuál es el precio de *?"],
      ["capacidad", "# litros", "¿Qué capacidad tiene *?", "¿Cuántos litros contiene *?"],
      ["plazas", "#", "¿Cuántas plazas tiene *?"],
      ["apertura", "#:00", "¿Cuándo abre *?", "¿A qué hora abre *?"],
      ["potencia", "# kW", "¿Qué potencia tiene *?"]
    ],
    facts: [
      ["place", "* está #.", "¿Dónde está *?", "¿Dónde se encuentra *?"],
      ["person", "# se ocupa de *.", "¿Quién se ocupa de *?", "¿Quién es responsable de *?"],
      ["year", "* se construyó en #.", "¿Cuándo se construyó *?", "¿En qué año se construyó *?"],
      ["number", "* tiene # ventanas.", "¿Cuántas ventanas tiene *?"],
      ["person", "* fue pintado por #.", "¿Quién pintó *?"],
      ["year", "En # se reparó *.", "¿Cuándo se reparó *?"],
      ["reason", "* está cerrado porque #.", "¿Por qué está cerrado *?"],
      ["number", "* admite # personas como máximo.", "¿Cuántas personas admite *?"]
    ],
    reasons: ["el techo gotea", "falló la calefacción", "la carretera está inundada"],
    filler: [
      "* gusta a los visitantes.",
      "Mucha gente pregunta por *.",
      "* pertenece al pueblo.",
      "En invierno, * luce mejor."
    ],
    heading: "Resumen",
    name: "Nombre",
    it: "Este"
  },
  zh: {
    things: [
      "老磨坊",
      "渡船",
      "学校厨房",
      "北塔楼",
      "船库",
      "温室",
      "打印机",
      "水泵",
      "阅览室",
      "铜钟",
      "木桥",
      "面包房",
      "缆车",
      "体育馆",
      "修理间",
      "图书室"
    ],
    places: ["教堂后面", "二楼", "西村", "港务处旁边", "炉子巷尽头", "地下室"],
    people: ["王秀兰", "李建国", "管理员", "港务处", "陈医生"],
    attributes: [
      ["高度", "#米", "*有多高？", "*的高度是多少？"],
      ["重量", "#公斤", "*有多重？", "*的重量是多少？"],
      ["价格", "#元", "*多少钱？", "*的价格是多少？"],
      ["容量", "#升", "*的容量是多少？", "*能装多少升？"],
      ["座位", "#个", "*有多少个座位？", "*有几个座位？"],
      ["开放时间", "#点", "*几点开放？", "*什么时候开放？"],
      ["功率", "#千瓦", "*的功率是多少？"]
    ],
    facts: [
      ["place", "*在#。", "*在哪里？", "*在什么地方？"],
      ["person", "*由#负责。", "谁负责*？", "*由谁负责？"],
      ["year", "*建于#年。", "*是哪一年建的？", "*什么时候建成？"],
      ["number", "*有#扇窗户。", "*有多少扇窗户？"],
      ["person", "*是#刷的漆。", "*是谁刷的漆？"],
      ["year", "#年修理了*。", "*是什么时候修理的？"],
      ["reason", "*关闭了，因为#。", "*为什么关闭？"],
      ["number", "*最多供#人使用。", "*最多供多少人使用？"]
    ],
    reasons: ["屋顶漏水", "暖气坏了", "道路被淹"],
    filler: ["*很受游客欢迎。", "很多人打听*。", "*属于村里。", "冬天的*最好看。"],
    heading: "概览",
    name: "名称",
    it: "它"
  }
}
