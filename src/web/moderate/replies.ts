// Saved replies in the forms of moderators: the choices, and their insertion into the message.
import type { ReplyRow } from '#features/community/moderation/replies/queries.ts'
import { isToReporters } from '#features/community/moderation/replies/starter-replies.ts'
import type { FormState } from '#web/kit/forms/form-page.ts'
import { projectPath } from '#web/kit/paths.ts'
import { html, type Part } from '#web/ui/html.ts'
import { DEFAULT_LANGUAGE, languageOf } from '#web/ui/languages.ts'
import type { PageContext } from '#web/ui/page-context.ts'
import { checkbox } from '#web/ui/parts/fields.ts'

/** Number of replies that the keys 1 to 9 select. */
const KEYED = 9

/** Renders the replies with the keys that select them, and their languages if they differ. */
export function repliesField(page: PageContext, replies: readonly ReplyRow[], state: FormState): Part {
  const { t } = page.language
  if (replies.length === 0) return null
  const chosen = state.list('replies')
  const isMixed = new Set(replies.map(({ language }) => language)).size > 1
  const boxes = replies.map(({ id, title, language }, index) =>
    checkbox({
      name: 'replies',
      value: id,
      isChecked: chosen.includes(id),
      label: html`<bdi>${title}</bdi>${isMixed && html` <span class="soft">${language}</span>`}`,
      hotkey: index < KEYED ? String(index + 1) : undefined,
    }),
  )
  return html`<fieldset class="stack close"><legend>${t('moderate.replies')}</legend><div class="prepared">
${boxes}
</div><button class="tight" name="do" value="insert" data-key="i" formnovalidate>${t('moderate.replies.insert')} <kbd class="hotkey" aria-hidden="true">I</kbd></button></fieldset>`
}

/** Returns the replies in a language before all others. Their keys begin with it too. */
export function inLanguage(replies: readonly ReplyRow[], tag: string | null | undefined): ReplyRow[] {
  return replies.toSorted((a, b) => Number(b.language === tag) - Number(a.language === tag))
}

/** Says which language the owner reads; nothing if it is unknown. */
export function ownerLanguage({ language: { t } }: PageContext, tag: string | null | undefined): Part {
  if (tag === null || tag === undefined) return null
  const { name } = languageOf(tag) ?? { name: tag }
  return html`<span class="soft">${t('moderate.owner.language', { name })}</span>`
}

/** Returns the text of a reply about several accounts, or undefined if it is for reporters or about one project. */
export function textForAccounts(page: PageContext, reply: ReplyRow): string | undefined {
  const text = fillIn(page, reply, {})
  return isToReporters(reply) || /\{\w+\}/.test(text) ? undefined : text
}

type Subject = { project?: Parameters<typeof projectPath>[0] & { name: string }; version?: string; file?: string }

/** Returns the message with the selected replies at its end. Placeholders without a value stay as they are. */
export function withReplies(
  page: PageContext,
  replies: readonly ReplyRow[],
  { state, subject }: { state: FormState; subject: Subject },
): string {
  const chosen = state.list('replies')
  const texts = replies.filter(({ id }) => chosen.includes(id)).map((reply) => fillIn(page, reply, subject))
  return [state.text('message').trimEnd(), ...texts].filter((text) => text !== '').join('\n\n')
}

function fillIn(page: PageContext, { body, language }: ReplyRow, { project, version, file }: Subject): string {
  const values: Readonly<Record<string, string | undefined>> = {
    project: project?.name,
    ...{ version, file },
    link: project && addressOf(page, projectPath(project)),
    rule: rulesLink(page, language),
  }
  return body.replace(/\{(project|version|file|link|rule)\}/g, (text, name: string) => values[name] ?? text)
}

const addressOf = ({ site }: PageContext, path: string): string => `${site.url}${path}`

/** Returns a link to the page with the rules, in the language of the reply. Without such a page, returns only its words. */
function rulesLink(page: PageContext, language: string): string {
  const words = (languageOf(language) ?? DEFAULT_LANGUAGE).t('moderate.replies.rules')
  return page.site.footer?.some(({ path }) => path === '/rules') === true
    ? `[${words}](${addressOf(page, '/rules')})`
    : words
}
