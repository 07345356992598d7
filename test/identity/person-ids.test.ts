import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Accounts, createAccounts } from '../../src/identity-provider/login/accounts.js'
import { type LoginStore, openLoginStore } from '../../src/identity-provider/login/login-store.js'
import { drawPersonIdSecret, personIdOf } from '../../src/identity-provider/login/person-ids.js'

const ID = /^user_0[0-9A-HJKMNP-TV-Z]{25}$/
const PASSWORD = 'a long enough password'

let home: string
let store: LoginStore
let accounts: Accounts
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'cs-persons-'))
  store = openLoginStore(home)
  accounts = createAccounts(store)
})
afterEach(async () => {
  await store.root.close()
  rmSync(home, { recursive: true, force: true })
})

test('a person is named before they sign in as afterwards, however the address is written', async () => {
  const before = await accounts.personByEmail('Grace@Example.test')
  const made = await accounts.create(' grace@example.TEST', PASSWORD)
  const after = await accounts.personByEmail('GRACE@example.test')
  expect(before?.userId).toMatch(ID)
  expect(after).toEqual(before)
  expect(made.userId).toBe(before?.userId)
})

test('a person who came before ids were derived keeps theirs', async () => {
  const made = await accounts.create('ada@example.test', PASSWORD)
  const old = { ...made, userId: 'user_01H0000000000000000000000A' as typeof made.userId }
  await store.root.transaction(() => {
    void store.users.put(old.userId, old)
    void store.userIdByEmail.put('ada@example.test', old.userId)
  })
  expect((await accounts.personByEmail('Ada@example.test'))?.userId).toBe(old.userId)
})

test('all who ask at once get ids of one secret, and so does the next process', async () => {
  const asked = Array.from({ length: 8 }, () => accounts.personByEmail('new@example.test'))
  const ids = new Set((await Promise.all(asked)).map((one) => one?.userId))
  await store.root.close()
  store = openLoginStore(home)
  ids.add((await createAccounts(store).personByEmail('new@example.test'))?.userId)
  expect(ids.size).toBe(1)
})

test('what is no address names nobody', async () => {
  for (const text of ['', 'no address', '@', 'a@b@c', `${'a'.repeat(254)}@x`]) {
    expect(await accounts.personByEmail(text)).toBeNull()
  }
})

test('ids are of the form of all ids, differ, and follow from no address without the secret', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const [own, others] = [drawPersonIdSecret(nowMs), drawPersonIdSecret(nowMs)]
  const seen = new Map<string, string>()
  fc.assert(
    fc.property(fc.emailAddress(), (email) => {
      const id = personIdOf(own, email)
      expect(id).toMatch(ID)
      expect(seen.get(id) ?? email).toBe(email)
      seen.set(id, email)
      expect(personIdOf(others, email)).not.toBe(id)
    }),
  )
})
