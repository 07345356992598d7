import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  registryPath,
  rootPrivateKeyPath,
  serviceLayout,
} from '../../src/custody/domain-keys/layout.js'
import { openSigningCheck, type SigningCheck } from '../../src/custody/key-stores/signing-check.js'
import { rotateCoSigner } from '../../src/custody-tools/maintenance/rotate-co-signer.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'

const OVERLAP_MS = 60_000

let home: string
let nowMs: number
let check: SigningCheck
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'cs-signing-'))
  await provisionDev(home)
  nowMs = Date.now()
  check = openSigningCheck(home, 'service', 'dev', () => nowMs)
})
afterEach(async () => {
  await check.close()
  rmSync(home, { recursive: true, force: true })
})

test('a home that has not the key of a rotation could sign until the former one ends, and with it again', async () => {
  const { keys } = serviceLayout(home)
  expect(await check.hindrance()).toBeNull()
  const privateKeyPath = rootPrivateKeyPath(home)
  const rotation = { overlapMs: OVERLAP_MS, root: { kind: 'sign', privateKeyPath } } as const
  const { kid } = await rotateCoSigner(home, rotation)
  const next = join(keys, `signing-${kid}.pem`)
  const elsewhere = join(home, 'elsewhere.pem')
  renameSync(next, elsewhere)
  expect(await check.hindrance()).toBeNull()
  nowMs = Date.now() + 2 * OVERLAP_MS
  expect(await check.hindrance()).toContain('registry version 2 names none')
  renameSync(elsewhere, next)
  expect(await check.hindrance()).toBeNull()
})

test('a home whose registry cannot be read could not sign', async () => {
  rmSync(registryPath(home))
  expect(await check.hindrance()).toContain('registry.json')
})
