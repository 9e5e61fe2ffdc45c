// Requests for the tests of all operations that differ from those of the v3 API.
import { inDays, jar, type Sample, slug } from '#test/api/operations/sample.ts'
import { form, projectDataV2, versionDataV2 } from '#test/support/http/forms.ts'

export const SAMPLES: Record<string, Sample> = {
  createProjectV2: { raw: () => form(projectDataV2(slug())) },
  updateProjectV2: { body: { description: 'A light to carry' } },
  scheduleProjectV2: { body: () => ({ time: inDays(365), requested_status: 'approved' }) },
  createVersionV2: { raw: async (w) => form(versionDataV2({ project_id: await w.id('project') }), [jar('file')]) },
  scheduleVersionV2: { body: () => ({ time: inDays(365), requested_status: 'listed' }) },
}
