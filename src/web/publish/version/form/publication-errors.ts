// The errors of a refused publication, by field.

import { listCachedVersions } from '#features/catalogue/versions/lookup/version-cache.ts'
import type { ApiError } from '#lib/errors.ts'
import { viewOf } from '#lib/text/json-bytes.ts'
import type { OwnRequest } from '#web/kit/pages.ts'
import { termName } from '#web/site/names.ts'
import { html } from '#web/ui/html.ts'
import { pathTo } from '#web/ui/page-context.ts'
import type { FormError } from '#web/ui/parts/fields.ts'
import type { ManagedProject } from '../../project/managed-project.ts'

/** Returns one error per missing field, or the version with the same number and files; otherwise nothing. */
export async function publicationErrors(
  request: OwnRequest,
  data: ManagedProject,
  { details }: ApiError,
): Promise<FormError[]> {
  const { t } = request
  const { missing, version_id: same } = details ?? {}
  if (typeof same === 'string') return sameVersion(request, data, same)
  if (!Array.isArray(missing)) return []
  const texts = {
    files: t('upload.missing.files'),
    version_number: t('upload.missing.version_number'),
    name: t('upload.missing.name'),
    loaders: t('upload.missing.loaders'),
    game_versions: t('upload.missing.game_versions'),
  }
  return missing.map((field) => ({
    field: String(field),
    message: texts[field as keyof typeof texts] ?? t('upload.missing.other', { field: termName(String(field)) }),
  }))
}

async function sameVersion({ deps, page }: OwnRequest, { path }: ManagedProject, id: string): Promise<FormError[]> {
  const [cached] = await listCachedVersions(deps, [id])
  if (cached === undefined) return []
  const { t } = page.language
  const version = viewOf(cached)
  const link = html`<a href="${pathTo(page, `${path}/version/${id}`)}">${t('upload.error.view-version')}</a>`
  return [{ field: 'version_number', message: t('upload.error.same', { number: version.version_number }), more: link }]
}
