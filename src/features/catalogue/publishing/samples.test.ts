// Requests for the tests of all operations.
import { projectTexts } from '#features/catalogue/projects/samples.test.ts'
import {
  ATTACHED,
  type Declared,
  DRY_RUN,
  jar,
  made,
  type Sample,
  send,
  slug,
  thing,
} from '#test/api/operations/sample.ts'
import { form, PNG, projectData, versionData } from '#test/support/http/forms.ts'

export const SAMPLES: Record<string, Sample> = { createProject: { raw: () => form(projectData(slug())) } }

export const DECLARED: Record<string, Declared> = {
  createProject: {
    view: made('/v3/project'),
    form: { data: async () => projectData(slug()), files: () => [] },
    fields: {
      ...projectTexts,
      slug: send(slug),
      categories: send(['technology']),
      additional_categories: send(['storage']),
      license_id: send('Apache-2.0', { at: 'license.id' }),
      license_url: send('https://example.org/license', { at: 'license.url' }),
      is_draft: send(false, {
        at: 'status',
        shows: 'processing',
        needs: { initial_versions: [versionData()] },
        files: () => [jar('file')],
      }),
      initial_versions: send([versionData()], {
        at: 'length',
        shows: 1,
        files: () => [jar('file')],
        // The project lists its versions when the scanner has passed them.
        view: async (read, { t }, { id }) => {
          const made = t.deps.db.selectFrom('version').select('id').where('project_id', '=', String(id))
          return Promise.all((await made.execute()).map((version) => read(`/v3/version/${version.id}`)))
        },
      }),
      gallery_items: send([{ item: 'shot', featured: true, name: 'At dusk' }], {
        at: 'gallery.0.name',
        shows: 'At dusk',
        files: () => [{ name: 'shot', filename: 'shot.png', bytes: PNG }],
      }),
      requested_status: send('unlisted'),
      organization_id: send(thing('organization')),
    },
    unseen: { dry_run: DRY_RUN, uploaded_images: ATTACHED },
  },
}
