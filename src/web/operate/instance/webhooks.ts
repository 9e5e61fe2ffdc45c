// The webhooks of the instance.

import { formPage } from '#web/kit/forms/form-page.ts'
import type { Pages } from '#web/kit/pages.ts'
import { PATHS } from '#web/kit/paths.ts'
import { type Webhooks, webhookPage } from '#web/publish/webhooks/webhook-page.ts'
import { showOperator } from '../sections.ts'

export function instanceWebhookPages(pages: Pages): void {
  formPage<Webhooks>(pages, {
    path: PATHS.operatorWebhooks,
    name: 'operateWebhooks',
    api: 'listInstanceWebhooks',
    options: { role: 'admin' },
    ...webhookPage<object>({
      load: async () => ({}),
      owner: () => ({ kind: 'instance', name: '' }),
      path: () => PATHS.operatorWebhooks,
      show: (request, _data, of) => showOperator(request, { ...of, section: PATHS.operatorWebhooks }),
    }),
  })
}
