// The webhooks of a user, for everything that they own.
import { html } from '#platform/html/html.ts'
import { sheetPart } from '#platform/html/work/frame.ts'
import type { OwnRequest, Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { formPage } from '#web/kit/work/form-page.ts'
import { type Webhooks, webhookPage } from '#web/publish/webhooks/webhook-page.ts'
import { showSettings } from '../account-layout.ts'

type Own = { id: string }

export function ownWebhookPages(pages: Pages): void {
  formPage<Own & Webhooks>(pages, {
    path: PATHS.webhooks,
    name: 'showOwnWebhooks',
    ...webhookPage<Own>({
      load: async ({ viewer }: OwnRequest) => ({ id: viewer.id }),
      owner: ({ id }) => ({ kind: 'user', name: id }),
      path: () => PATHS.webhooks,
      show: (request, _data, { heading, text, body, form }) =>
        showSettings(request, {
          title: heading,
          body: html`${text !== undefined && sheetPart({ id: 'about', content: html`<p>${text}</p>` })}${body}`,
          refusal: form?.refusal,
        }),
    }),
  })
}
