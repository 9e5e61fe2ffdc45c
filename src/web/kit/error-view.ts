import { html, type Markup } from '#platform/html/html.ts'
import { type PageContext, pathTo } from '#platform/html/page-context.ts'
import { slip } from '#web/account/account-layout.ts'
import { PATHS } from './paths.ts'

type Shown = { title: string; message: string; requestId: string | undefined }

/** What went wrong, in the words of the API. */
export function errorView(page: PageContext, { title, message, requestId }: Shown): Markup {
  const { language } = page
  const named = html`<code>${requestId}</code>`
  return slip(html`<h1>${title}</h1>
<p lang="en">${message}</p>
${requestId !== undefined && html`<p class="hint">${language.rich('error.request', { id: named })}</p>`}
<p><a href="${pathTo(page, PATHS.profile)}">${language.t('error.to-account')}</a></p>`)
}
