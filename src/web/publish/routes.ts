// The pages for publishers: dashboard, new projects, settings and versions. docs/contributors/site.md explains how to add a page.
import { leaveFormsUnparsed } from '#platform/http/bodies/multipart.ts'
import type { App } from '#platform/http/server.ts'
import { type Pages, registerArea } from '#web/kit/pages.ts'
import type { Area, WebDeps } from '#web/kit/request.ts'
import { WORK_AREA } from '#web/kit/work-page.ts'
import { projectAdvisoryPages } from './advisories/project-advisories.ts'
import { analyticsPages } from './analytics/analytics-page.ts'
import { collectionDeletionPage, newCollectionPage, ownCollectionsPage } from './collection/collections-page.ts'
import { collectionEditorPage } from './collection/editor.ts'
import { dashboardPages } from './dashboard/dashboard.ts'
import { ownProjectsPages } from './dashboard/projects.ts'
import { uploadsPage } from './dashboard/uploads.ts'
import { notificationPages } from './notifications/notifications.ts'
import { organizationDeletionPages } from './organization/delete.ts'
import { organizationGeneralPages } from './organization/general.ts'
import { organizationMemberPages } from './organization/members.ts'
import { newOrganizationPage, ownOrganizationsPage } from './organization/organizations-page.ts'
import { organizationProjectPages } from './organization/projects.ts'
import { organizationPublishingPages } from './organization/publishing.ts'
import { serviceAccountPages } from './organization/service-accounts.ts'
import { followsPage } from './own/follows-page.ts'
import { ownReportPages } from './own/reports-page.ts'
import { packDeletionPage, packSettingsPage } from './pack/pack-settings.ts'
import { ownPacksPage } from './pack/packs-page.ts'
import { badgePages } from './project/badges.ts'
import { deletionPages } from './project/delete.ts'
import { descriptionPages } from './project/description.ts'
import { galleryPages } from './project/gallery.ts'
import { generalPages } from './project/general.ts'
import { linkPages } from './project/links.ts'
import { memberPages } from './project/members.ts'
import { publishingPages } from './project/publishing.ts'
import { tagPages } from './project/tags.ts'
import { transferPages } from './project/transfer.ts'
import { visibilityPages } from './project/visibility.ts'
import { affiliatePages } from './revenue/affiliates-page.ts'
import { projectRevenuePages } from './revenue/project-revenue.ts'
import { revenuePages } from './revenue/revenue-page.ts'
import { reviewPages } from './review/review.ts'
import { newProjectPages } from './start/new-project.ts'
import { projectFromFilePage } from './start/project-from-file.ts'
import { editPages } from './version/edit-page.ts'
import { tokenCheck } from './version/form/receive-form.ts'
import { uploadedFileRoutes } from './version/upload/file-routes.ts'
import { uploadPages } from './version/upload/upload-page.ts'
import { versionsPages } from './version/versions-page.ts'
import { versionDeletionPages, withdrawalPages } from './version/withdrawal-page.ts'
import { organizationWebhookPages, ownWebhookPages, projectWebhookPages } from './webhooks/owners.ts'

/** Pages for moderators and operators need no consent: they act for the instance. */
const AREA: Area = { ...WORK_AREA, needsConsent: true }

export function publishPages(app: App, web: WebDeps): void {
  const { taxonomy } = web.deps
  registerArea(app, web, AREA, (pages) => {
    notificationPages(pages)
    dashboardPages(pages)
    ownProjectsPages(pages)
    uploadsPage(pages)
    analyticsPages(pages, taxonomy)
    generalPages(pages, taxonomy)
    descriptionPages(pages, taxonomy)
    tagPages(pages, taxonomy)
    linkPages(pages, taxonomy)
    badgePages(pages, taxonomy)
    galleryPages(pages, taxonomy)
    memberPages(pages, taxonomy)
    visibilityPages(pages, taxonomy)
    publishingPages(pages, taxonomy)
    projectAdvisoryPages(pages, taxonomy)
    projectWebhookPages(pages, taxonomy)
    transferPages(pages, taxonomy)
    deletionPages(pages, taxonomy)
    reviewPages(pages, taxonomy)
    ownReportPages(pages)
    followsPage(pages)
    revenuePages(pages)
    affiliatePages(pages)
    projectRevenuePages(pages, taxonomy)
    versionsPages(pages, taxonomy)
    versionDeletionPages(pages, taxonomy)
    withdrawalPages(pages, taxonomy)
    organizationPages(pages)
    ownWebhookPages(pages)
    collectionPages(pages)
    ownPackPages(pages)
  })
  registerArea(app, web, AREA, (pages, scope) => {
    scope.removeContentTypeParser('multipart/form-data')
    leaveFormsUnparsed(scope)
    const checkToken = tokenCheck(scope)
    uploadPages(pages, taxonomy, checkToken)
    editPages(pages, taxonomy, checkToken)
    newProjectPages(pages)
    projectFromFilePage(pages, checkToken)
  })
  uploadedFileRoutes(app, web)
}

function organizationPages(pages: Pages): void {
  ownOrganizationsPage(pages)
  newOrganizationPage(pages)
  organizationGeneralPages(pages)
  organizationMemberPages(pages)
  organizationProjectPages(pages)
  organizationPublishingPages(pages)
  organizationWebhookPages(pages)
  serviceAccountPages(pages)
  organizationDeletionPages(pages)
}

/** The packs of the user. */
function ownPackPages(pages: Pages): void {
  ownPacksPage(pages)
  packSettingsPage(pages)
  packDeletionPage(pages)
}

function collectionPages(pages: Pages): void {
  ownCollectionsPage(pages)
  newCollectionPage(pages)
  collectionEditorPage(pages)
  collectionDeletionPage(pages)
}
