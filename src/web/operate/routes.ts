// The pages for operators. docs/contributors/site.md explains how to add a page.
import type { App } from '#platform/http/server.ts'
import { type Pages, registerArea } from '#web/kit/pages.ts'
import type { WebDeps } from '#web/kit/request.ts'
import { WORK_AREA } from '#web/kit/work-page.ts'
import { keyPages } from './content/keys.ts'
import { tagJsonPages } from './content/tag-json.ts'
import { tagEditPages } from './content/tag-page.ts'
import { tagPages } from './content/tags.ts'
import { announcementPages } from './instance/announcement.ts'
import { brandingPages } from './instance/branding.ts'
import { readOnlyPages } from './instance/read-only.ts'
import { sitePagePages } from './instance/site-page.ts'
import { sitePagesPages } from './instance/site-pages.ts'
import { instanceWebhookPages } from './instance/webhooks.ts'
import { auditLogPages } from './log/audit-log.ts'
import { userPages } from './people/account.ts'
import { accountPages } from './people/accounts.ts'
import { invitationPages } from './people/invitations.ts'
import { limitPages } from './people/limits.ts'
import { payoutPages } from './people/payouts.ts'
import { signUpPages } from './people/sign-ups.ts'
import { firstStepPages } from './setup/first-steps.ts'
import { backupPages } from './state/backups.ts'
import { jobPages } from './state/jobs.ts'
import { mailPages } from './state/mail.ts'
import { overviewPages } from './state/overview.ts'
import { searchIndexPages } from './state/search-index.ts'
import { storagePages } from './state/storage.ts'

/** Functions that register pages. Users who are not operators get 404 from all of them. */
const PAGES: readonly ((pages: Pages) => void)[] = [
  overviewPages,
  jobPages,
  storagePages,
  searchIndexPages,
  mailPages,
  backupPages,
  accountPages,
  userPages,
  invitationPages,
  signUpPages,
  limitPages,
  payoutPages,
  tagPages,
  tagEditPages,
  tagJsonPages,
  keyPages,
  brandingPages,
  sitePagesPages,
  sitePagePages,
  instanceWebhookPages,
  announcementPages,
  readOnlyPages,
  auditLogPages,
  firstStepPages,
]

export function operatorPages(app: App, web: WebDeps): void {
  registerArea(app, web, WORK_AREA, (pages) => {
    for (const register of PAGES) register(pages)
  })
}
