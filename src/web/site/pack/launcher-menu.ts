// The menu that opens a file in a launcher of the visitor, next to the file itself.
import { escapeText } from '#lib/text/xml.ts'
import { type Launcher, launcherLink } from '#taxonomy/launchers.ts'
import { html, type Part, trusted } from '#web/ui/html.ts'
import { icon, type PageContext } from '#web/ui/page-context.ts'

type Opened = {
  /** Absolute URL of the file. */
  url: string
  /** Types of projects whose files the launcher must open. */
  types: readonly string[]
}

/** Returns the menu; nothing if no launcher opens files of these types. */
export function launcherMenu(
  page: PageContext,
  { launchers }: { launchers: readonly Launcher[] },
  { url, types }: Opened,
): Part {
  const fitting = launchers.filter(({ project_types }) => project_types.some((type) => types.includes(type)))
  if (fitting.length === 0) return null
  // The taxonomy checks the scheme of the links, which the template would reject.
  const items = fitting.map(
    (
      launcher,
    ) => html`<li><a class="lone"${trusted(` href="${escapeText(launcherLink(launcher, url))}"`)}>${icon(page, 'external')}<bdi>${launcher.name}</bdi></a></li>
`,
  )
  return html`<details class="small"><summary>${page.language.t('site.launcher.open')}</summary><ul>${items}</ul><p class="soft">${page.language.t('site.launcher.others')}</p></details>`
}
