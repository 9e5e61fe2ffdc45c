// Generates `.env.example` from the schema of the variables.
import { VARIABLES } from './env.ts'

/** Returns the content of `.env.example`: each variable with its meaning, default and example, commented out. */
export function envExample(): string {
  const head =
    '# All settings of Depot. To change one, remove the # before its name. Generated from src/platform/config/env.ts by `npm run gen`.'
  const entries = VARIABLES.map(({ name, description, example, default: value }) => {
    const about = value === undefined ? description : `${description} Default: ${value}.`
    const quote = example.includes('"') ? "'" : '"'
    const shown = /^[\w.:/@-]+$/.test(example) ? example : `${quote}${example}${quote}`
    return `${wrap(about)}\n#${name}=${shown}`
  })
  return `${[head, ...entries].join('\n\n')}\n`
}

/** Wraps a text into comment lines of at most 100 characters. */
function wrap(sentence: string): string {
  const lines = ['#']
  for (const word of sentence.split(' ')) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= 100) lines[lines.length - 1] = line
    else lines.push(`# ${word}`)
  }
  return lines.join('\n')
}
