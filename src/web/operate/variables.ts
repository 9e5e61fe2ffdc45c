// Settings of the environment on pages: the value without secrets, its source, and how to change it.
import type { Config } from '#platform/config/config.ts'
import { html, type Markup, type Part } from '#web/ui/html.ts'
import type { PageContext } from '#web/ui/page-context.ts'

type Variable = { name: string; value: Part }

export function variables(page: PageContext, { variables: set }: Config, rows: readonly Variable[]): Markup {
  const { t, rich } = page.language
  const source = (name: string) =>
    set.includes(name) ? t('operate.steps.source.set') : t('operate.steps.source.default')
  return html`<dl class="pairs wide">${rows.map(({ name, value }) => html`<dt><code>${name}</code></dt><dd>${value}<br><small>${source(name)}</small></dd>`)}</dl>
<p class="hint">${rich('operate.steps.change', { names: html`<code>${rows.map(({ name }) => name).join(', ')}</code>`, file: html`<code>/etc/depot.env</code>` })}</p>`
}

/** Renders the mail server, without its user and password, and the sender. */
export function mailVariables(page: PageContext, config: Config): Markup {
  const { mail } = config
  const server =
    mail.kind === 'smtp'
      ? html`<code>${new URL(mail.url.reveal()).host}</code>`
      : page.language.t('operate.steps.mail.none')
  return variables(page, config, [
    { name: 'SMTP_URL', value: server },
    { name: 'MAIL_FROM', value: html`<code>${mail.from}</code>` },
  ])
}
