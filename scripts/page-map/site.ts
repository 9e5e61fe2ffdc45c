// The public site.
import { type MappedPage, pagesFor } from './page.ts'

const open = pagesFor('everyone')

export const SITE_PAGES: readonly MappedPage[] = [
  open('siteHome', '/', 'Popular, new and updated projects', 'getRoot getStatistics'),
  open('siteList', '/{type}s', 'Projects of a type, with filters', 'countSearchFacets listCategories listLoaders'),
  open('siteSearch', '/search', 'Search', 'searchProjects suggestSearch'),
  open(
    'siteProject',
    '/{type}/{slug}',
    'A project with its description and its download',
    'getProject listProjectMembers getProjectOrganization downloadFile getPicture downloadVersionArchive followProject unfollowProject',
  ),
  open('siteGallery', '/{type}/{slug}/gallery', 'Images', 'getGalleryPicture'),
  open('siteVersions', '/{type}/{slug}/versions', 'Versions, with filters', 'listProjectVersions'),
  open('siteVersion', '/{type}/{slug}/version/{version}', 'A version with its files', 'getProjectVersion getVersion'),
  open('siteVersionFiles', '/{type}/{slug}/version/{version}/files', 'The entries of the archives of a version'),
  open('siteChangelog', '/{type}/{slug}/changelog', 'Changelogs of all versions'),
  open('siteDependencies', '/{type}/{slug}/dependencies', 'Dependencies', 'listProjectDependencies'),
  open('siteUsedBy', '/{type}/{slug}/used-by', 'Projects that depend on a project', 'listProjectDependents'),
  open('siteStatistics', '/{type}/{slug}/statistics', 'Public figures', 'getProjectStatistics'),
  open(
    'siteSave',
    '/{type}/{slug}/save',
    'Choice of the collections that contain a project',
    'listUserCollections createCollection',
  ),
  open('siteUser', '/user/{name}', 'A profile', 'getUser listUserProjects listUserOrganizations'),
  open(
    'siteOrganization',
    '/organization/{name}',
    'An organization',
    'getOrganization listOrganizationMembers listOrganizationProjects',
  ),
  open('siteCollection', '/collection/{id}', 'A collection', 'getCollection downloadCollectionArchive'),
  open('siteAdvisory', '/advisory/{id}', 'An advisory about versions or files', 'getAdvisory'),
  open(
    'sitePack',
    '/pack',
    'A pack that the visitor composes',
    'resolveItems createLock getLock getLockMrpack getLockPack getLockIndex getLockMetafile',
  ),
  open('siteReport', '/report', 'A form to report an item', 'createReport listReportTypes'),
  open('siteOperatorText', '/about', 'The texts About and Rules of the operator', 'getInstance'),
]
