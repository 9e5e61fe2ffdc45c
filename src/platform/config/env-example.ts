// `.env.example`, drawn from the table of variables.
import { VARIABLES } from './env.ts'

/** The content of `.env.example`: every variable with what it means, its default and an example, all commented out. */
export function envExample(): string {
  const head =
    '# Every variable Depot reads. Remove the # before a NAME to set it. Made from src/platform/config/env.ts by `npm run gen`.'
  const entries = VARIABLES.map(({ name, description, example, default: value }) => {
    const about = value === undefined ? description : `${description} Default: ${value}.`
    const shown = /^[\w.:/@-]+$/.test(example) ? example : `"${example}"`
    return `${wrap(about)}\n#${name}=${shown}`
  })
  return `${[head, ...entries].join('\n\n')}\n`
}

/** Breaks a sentence into comment lines of at most 100 characters. */
function wrap(sentence: string): string {
  const lines = ['#']
  for (const word of sentence.split(' ')) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= 100) lines[lines.length - 1] = line
    else lines.push(`# ${word}`)
  }
  return lines.join('\n')
}
