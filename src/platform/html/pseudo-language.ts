// A language that nobody speaks, for tests: English with each word turned round for display, from right to left. What a
// page shows in plain English there is no message, and what stands on the wrong side is a rule of style that names one.
const OVERRIDE = '\u202e'
const END = '\u202c'

/** The text with each of its words between the characters that make browsers show it from right to left. */
export function mirrorText(text: string): string {
  return text.replace(/\S+/g, `${OVERRIDE}$&${END}`)
}
