/** What an answer says beside its sentences, in the languages of questions. */
import type { QuestionLanguage } from "@sluice/core/text"

interface AnswerTexts {
  /** Between sentences and notes. */
  readonly space: string
  readonly none: string
  readonly unsure: string
  readonly closest: string
  readonly unread: string
  readonly unsupported: string
  readonly missing: (questions: ReadonlyArray<string>) => string
  readonly incomplete: (message: string) => string
  readonly dropped: (count: number) => string
  readonly notSupported: (count: number) => string
}

export const ANSWER_TEXTS: Readonly<Record<QuestionLanguage, AnswerTexts>> = {
  en: {
    space: " ",
    none: "The documents do not answer this question.",
    unsure: "No sure answer.",
    closest: "Closest passages:",
    unread: "The model's answer could not be read.",
    unsupported: "(unsupported)",
    missing: (questions) => `(The documents do not answer: ${questions.join("; ")})`,
    incomplete: (message) => `(This answer is incomplete. ${message})`,
    dropped: (count) =>
      count === 1
        ? "(A sentence was left out: its quote was not found in the cited document.)"
        : `(${count} sentences were left out: their quotes were not found in the cited documents.)`,
    notSupported: (count) =>
      count === 1
        ? "(A sentence was left out: its quotes do not support it.)"
        : `(${count} sentences were left out: their quotes do not support them.)`
  },
  zh: {
    space: "",
    none: "在这些文档中没有找到这个问题的答案。",
    unsure: "没有确定的答案。",
    closest: "最接近的段落：",
    unread: "模型的回答无法读取。",
    unsupported: "（未证实）",
    missing: (questions) => `（文档中没有回答：${questions.join("；")}）`,
    incomplete: (message) => `（回答不完整：${message}）`,
    dropped: (count) => `（略去了 ${count} 句：其引文不在所引的文档中。）`,
    notSupported: (count) => `（略去了 ${count} 句：其引文不足以证实。）`
  },
  de: {
    space: " ",
    none: "Die Dokumente beantworten diese Frage nicht.",
    unsure: "Keine sichere Antwort.",
    closest: "Ähnlichste Stellen:",
    unread: "Die Antwort des Modells war nicht lesbar.",
    unsupported: "(nicht belegt)",
    missing: (questions) => `(Die Dokumente beantworten nicht: ${questions.join("; ")})`,
    incomplete: (message) => `(Diese Antwort ist unvollständig. ${message})`,
    dropped: (count) =>
      count === 1
        ? "(Ein Satz fehlt: Sein Zitat steht nicht im genannten Dokument.)"
        : `(${count} Sätze fehlen: Ihre Zitate stehen nicht in den genannten Dokumenten.)`,
    notSupported: (count) =>
      count === 1
        ? "(Ein Satz fehlt: Seine Zitate belegen ihn nicht.)"
        : `(${count} Sätze fehlen: Ihre Zitate belegen sie nicht.)`
  },
  fr: {
    space: " ",
    none: "Les documents ne répondent pas à cette question.",
    unsure: "Pas de réponse sûre.",
    closest: "Passages les plus proches :",
    unread: "La réponse du modèle est illisible.",
    unsupported: "(non confirmé)",
    missing: (questions) => `(Les documents ne répondent pas à : ${questions.join(" ; ")})`,
    incomplete: (message) => `(Cette réponse est incomplète. ${message})`,
    dropped: (count) =>
      count === 1
        ? "(Une phrase a été omise : sa citation ne figure pas dans le document cité.)"
        : `(${count} phrases ont été omises : leurs citations ne figurent pas dans les documents cités.)`,
    notSupported: (count) =>
      count === 1
        ? "(Une phrase a été omise : ses citations ne la confirment pas.)"
        : `(${count} phrases ont été omises : leurs citations ne les confirment pas.)`
  },
  es: {
    space: " ",
    none: "Los documentos no responden a esta pregunta.",
    unsure: "No hay una respuesta segura.",
    closest: "Pasajes más cercanos:",
    unread: "No se pudo leer la respuesta del modelo.",
    unsupported: "(sin confirmar)",
    missing: (questions) => `(Los documentos no responden a: ${questions.join("; ")})`,
    incomplete: (message) => `(Esta respuesta está incompleta. ${message})`,
    dropped: (count) =>
      count === 1
        ? "(Se omitió una frase: su cita no figura en el documento citado.)"
        : `(Se omitieron ${count} frases: sus citas no figuran en los documentos citados.)`,
    notSupported: (count) =>
      count === 1
        ? "(Se omitió una frase: sus citas no la confirman.)"
        : `(Se omitieron ${count} frases: sus citas no las confirman.)`
  }
}
