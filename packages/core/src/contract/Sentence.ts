/** A message that another sentence follows: with the full stop that gateways often leave out. */
export const sentence = (message: string): string => (/[.!?…。]$/.test(message) ? message : `${message}.`)
