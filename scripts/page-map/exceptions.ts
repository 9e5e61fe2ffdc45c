// Operations of the API that no page offers, by the reason.

export const NO_PAGE: readonly { reason: string; api: readonly string[] }[] = [
  {
    reason: 'Describes the service to programs and monitoring',
    api: ['getOpenApi', 'getOlderOpenApi', 'getHealth', 'getMetrics', 'getOAuthMetadata', 'listInstanceKeys'],
  },
  {
    reason: 'A program that has been authorized calls it, not a person',
    api: ['exchangeCode', 'introspectToken', 'revokeToken'],
  },
  {
    reason: 'A build or a program calls it with a token that it has, not a person',
    api: [
      'getPublishingMetadata',
      'exchangeBuildToken',
      'endPublisherToken',
      'getRateLimit',
      'revokeLeakedToken',
      'reportLeakedTokens',
    ],
  },
  {
    reason: 'Launchers and build tools call it: lookups by hash, updates, repositories',
    api: [
      'getVersionByHash',
      'downloadByHash',
      'listVersionsByHash',
      'getVersionsByHash',
      'listProjectsByHash',
      'getProjectsByHash',
      'findUpdate',
      'getUpdate',
      'findUpdates',
      'getUpdates',
      'findUpdateLists',
      'getUpdateLists',
      'findIndividualUpdates',
      'getMavenMetadata',
      'getMavenFile',
      'getUpdateFile',
    ],
  },
  {
    reason: 'Programs find the advisories about files with it; the pages of the versions show them',
    api: ['matchAdvisories', 'exportAdvisories'],
  },
  {
    reason: 'Programs follow the catalogue with it; pages have Atom feeds',
    api: ['listChanges', 'streamChanges'],
  },
  {
    reason:
      'Programs upload files in parts with it; the script of the page that uploads a version does the same with its session',
    api: ['createUpload', 'listUploads', 'getUpload', 'appendToUpload', 'deleteUpload', 'overrideUploadMethod'],
  },
  {
    reason: 'Moves a project to another instance, by its command line',
    api: ['exportProject'],
  },
  {
    reason: 'Launchers and the service itself count with it',
    api: ['reportView', 'reportPlaytime', 'reportAffiliateClick'],
  },
  {
    reason: 'A server of the operator calls it: a CDN or a shop',
    api: ['countDownloads', 'recordConversion'],
  },
  {
    reason: 'Returns several items by ID, which pages show one by one or in lists',
    api: [
      'listUsers',
      'listProjects',
      'listVersions',
      'listOrganizations',
      'listCollections',
      'listTeams',
      'listThreads',
      'listReports',
      'listNotifications',
      'listApplications',
    ],
  },
  {
    reason: 'Does for one item what a page does for several',
    api: ['getNotification', 'markNotificationRead', 'deleteNotification', 'updateTeamMember', 'discardJob'],
  },
  {
    reason: 'Always empty; existing clients call it',
    api: ['listFriends', 'listBlockedUsers', 'getUserPreferences'],
  },
  {
    reason: 'Checks a request without running it; pages check when they receive a form',
    api: ['validateNewAccount', 'proposeVersion'],
  },
  {
    reason:
      'A page does the same in another way: cookies renew sessions, a new token replaces an old one, lists have URLs',
    api: ['refreshSession', 'updateAccessToken', 'searchProjectsByBody', 'listProjectTypes'],
  },
  {
    reason: 'A tool that owns a token of the code host calls it; deprecated in favour of access tokens',
    api: ['linkCodeHost', 'unlinkCodeHost'],
  },
  { reason: 'Other web sites show random projects', api: ['listRandomProjects'] },
  {
    reason: 'Pages withhold, close and reply instead, so that the record of what happened stays',
    api: ['deleteReport', 'deleteThreadMessage'],
  },
  {
    reason: 'Programs watch an account with it. Pages show sessions, tokens and authorizations as they are now',
    api: ['listOwnAuditEntries'],
  },
]
