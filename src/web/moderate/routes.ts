// The pages for moderators. docs/contributors/site.md explains how to add a page.
import type { App } from '#platform/http/server.ts'
import { type Pages, registerArea } from '#web/kit/pages.ts'
import type { WebDeps } from '#web/kit/request.ts'
import { WORK_AREA } from '#web/kit/work-page.ts'
import { advisoryListPage, advisoryReviewPage, newAdvisoryPage } from './advisories/advisory-pages.ts'
import { moderationHomePages } from './home.ts'
import { logPage } from './log/log-page.ts'
import { moderatedAccountsPage } from './people/accounts-page.ts'
import { userPage } from './people/user-page.ts'
import { queuePages } from './queue/queue-page.ts'
import { reportListPage } from './reports/report-list.ts'
import { reportPage } from './reports/report-page.ts'
import { scanListPage } from './reports/scan-list.ts'
import { threadListPage } from './reports/thread-list.ts'
import { entryPages } from './review/entries-page.ts'
import { reviewPages } from './review/review-page.ts'
import { queueStatisticsPages } from './statistics.ts'
import { contentDeletionPage } from './texts/deletion-page.ts'
import { externalImagePages } from './texts/external-images-page.ts'
import { takedownPage } from './texts/takedown-page.ts'
import { takedownResultPages } from './texts/takedown-result.ts'
import { textsPage } from './texts/texts-page.ts'

/** Functions that register pages. Users who are not moderators get 404 from all of them. */
const PAGES: readonly ((pages: Pages) => void)[] = [
  moderationHomePages,
  queuePages,
  queueStatisticsPages,
  reviewPages,
  entryPages,
  reportListPage,
  reportPage,
  scanListPage,
  advisoryListPage,
  newAdvisoryPage,
  advisoryReviewPage,
  threadListPage,
  moderatedAccountsPage,
  userPage,
  logPage,
  textsPage,
  takedownPage,
  externalImagePages,
  takedownResultPages,
  contentDeletionPage,
]

export function moderationPages(app: App, web: WebDeps): void {
  registerArea(app, web, WORK_AREA, (pages) => {
    for (const register of PAGES) register(pages)
  })
}
