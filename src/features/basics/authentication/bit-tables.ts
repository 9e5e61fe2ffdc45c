// Tables of scopes and permissions for the API description.
import { BADGES, ORGANIZATION_PERMISSIONS, PROJECT_PERMISSIONS } from '#features/basics/access/permissions.ts'
import { SCOPES } from '#features/basics/access/scopes.ts'

/** Returns all scopes as a Markdown table, lowest bit first. */
export function scopeTable(): string {
  const rows = SCOPES.map(({ name, value, explanation, restricted }) => {
    const note = restricted ? ' (sessions only)' : ''
    return `| ${Math.log2(value)} | ${value} | \`${name}\` | ${explanation}${note} |`
  })
  return ['| bit | number | name | permits |', '|---|---|---|---|', ...rows].join('\n')
}

/** Returns the permissions in projects and organizations, and the badges, as Markdown tables. */
export function permissionTables(): string {
  const tables = [
    ['Permissions of a member of a project (`permissions`)', PROJECT_PERMISSIONS],
    ['Permissions of a member of an organization (`organization_permissions`)', ORGANIZATION_PERMISSIONS],
    ['Badges of an account (`badges`)', BADGES],
  ] as const
  return tables
    .map(([title, bits]) => {
      const rows = Object.entries(bits).map(([name, value]) => `| ${Math.log2(value)} | ${value} | \`${name}\` |`)
      return [`${title}:`, '', '| bit | number | name |', '|---|---|---|', ...rows].join('\n')
    })
    .join('\n\n')
}
