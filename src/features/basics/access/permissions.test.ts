import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  ALL_BADGES,
  ALL_ORGANIZATION_PERMISSIONS,
  ALL_PROJECT_PERMISSIONS,
  BADGES,
  hasBadge,
  hasOrganizationPermission,
  hasProjectPermission,
  isBitSubset,
  MODERATOR_ORGANIZATION_PERMISSIONS,
  MODERATOR_PROJECT_PERMISSIONS,
  ORGANIZATION_PERMISSIONS,
  PROJECT_PERMISSIONS,
  type ProjectPermission,
} from './permissions.ts'

/** The names of the bits in a field, lowest first. */
function bitNames<Name extends string>(bits: number, table: Readonly<Record<Name, number>>): Name[] {
  return (Object.keys(table) as Name[]).filter((name) => (bits & table[name]) !== 0)
}

test('the masks are the sums of the tables, and each bit of a table is used once', () => {
  assert.deepEqual([ALL_PROJECT_PERMISSIONS, ALL_ORGANIZATION_PERMISSIONS, ALL_BADGES], [1023, 255, 255])
  for (const table of [PROJECT_PERMISSIONS, ORGANIZATION_PERMISSIONS, BADGES]) {
    assert.deepEqual(
      Object.values(table),
      Object.values(table).map((_, index) => 2 ** index),
    )
  }
})

test('a moderator can describe a project and upload to it, and describe an organization and add to it', () => {
  assert.deepEqual(bitNames(MODERATOR_PROJECT_PERMISSIONS, PROJECT_PERMISSIONS), [
    'UPLOAD_VERSION',
    'EDIT_DETAILS',
    'EDIT_BODY',
  ])
  assert.deepEqual(bitNames(MODERATOR_ORGANIZATION_PERMISSIONS, ORGANIZATION_PERMISSIONS), [
    'EDIT_DETAILS',
    'ADD_PROJECT',
  ])
})

test('a field has exactly the permissions it names', () => {
  fc.assert(
    fc.property(fc.nat(ALL_PROJECT_PERMISSIONS), (bits) => {
      const names = bitNames(bits, PROJECT_PERMISSIONS)
      for (const name of Object.keys(PROJECT_PERMISSIONS) as ProjectPermission[])
        assert.equal(hasProjectPermission(bits, name), names.includes(name))
      assert.equal(
        names.reduce((total, name) => total + PROJECT_PERMISSIONS[name], 0),
        bits,
      )
    }),
  )
  assert.equal(hasOrganizationPermission(16, 'ADD_PROJECT'), true)
  assert.equal(hasOrganizationPermission(16, 'REMOVE_PROJECT'), false)
  assert.equal(hasBadge(128, 'AFFILIATE'), true)
  assert.equal(hasBadge(127, 'AFFILIATE'), false)
})

test("distinguishes a grant of the caller's permissions from a grant beyond them", () => {
  fc.assert(
    fc.property(fc.nat(1023), fc.nat(1023), (held, granted) => {
      const names = bitNames(held, PROJECT_PERMISSIONS)
      const allHeld = bitNames(granted, PROJECT_PERMISSIONS).every((name) => names.includes(name))
      assert.equal(isBitSubset(granted, held), allHeld)
    }),
  )
})
