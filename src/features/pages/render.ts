// Templates, compiled once when the server starts. User text is escaped by `<%= %>`; no template uses the raw form for
// anything but what another template made.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Eta } from 'eta'

const TEMPLATES = join(import.meta.dirname, 'templates')

export type Render = (template: string, data: object) => string

/** Reads and compiles every template; one that does not parse stops the start. */
export function createRender(): Render {
  const eta = new Eta({ autoEscape: true, cache: true })
  for (const file of readdirSync(TEMPLATES)) {
    if (!file.endsWith('.eta')) continue
    const name = `@${file.slice(0, -'.eta'.length)}`
    // Without the line break at the file's end, which would stand between a part and the text that follows it.
    eta.loadTemplate(name, eta.compile(readFileSync(join(TEMPLATES, file), 'utf8').trimEnd()))
  }
  return (template, data) => eta.render(`@${template}`, data)
}
