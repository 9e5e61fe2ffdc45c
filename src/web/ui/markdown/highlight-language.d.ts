/** The grammar of one language. */
declare const language: object

export { language as default }
