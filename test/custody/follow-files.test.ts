import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followRegistry } from '../../src/custody/domain-keys/follow-registry.js'
import { writeRegistryFile } from '../../src/custody/domain-keys/registry-file.js'
import {
  followInstanceFreeze,
  freezeInstance,
  readInstanceFreeze,
  unfreezeInstance,
} from '../../src/custody/instance-freeze.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { type RegistryEnvelope, registryMessage } from '../../src/quorum-protocol/registry.js'
import { holdRegistry, type RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'

/** What people put in place in a hurry holds, at whatever moment of a domain's start. */

const root = generateKeyPairSync('ec', { namedCurve: 'P-256' })
let directory: string
let unfollow = () => {}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-files-'))
})
afterEach(() => {
  unfollow()
  rmSync(directory, { recursive: true, force: true })
})

async function registry(
  version: number,
  environment: 'dev' | 'live' = 'live',
): Promise<RegistryEnvelope> {
  const keys = { co_signers: [], approvers: [], quorum_signers: [], chains: [] }
  const body = Buffer.from(JSON.stringify({ version, environment, ...keys }))
  return { body, signature: await p256SignerOf(root.privateKey).sign(registryMessage(body)) }
}

function follow(path: string, holder: RegistryHolder): number[] {
  const taken: number[] = []
  const refused = (error: unknown) => {
    throw error
  }
  unfollow = followRegistry(path, holder, ({ version }) => taken.push(version), refused)
  return taken
}

test('a registry that was put in place while a domain started is in force', async () => {
  const path = join(directory, 'registry.json')
  const holder = holdRegistry(root.publicKey, await registry(1))
  writeRegistryFile(path, await registry(2))
  const taken = follow(path, holder)
  expect([holder.current.version, taken]).toEqual([2, [2]])
})

test('a registry that is put in place at the very moment after is in force soon', async () => {
  const path = join(directory, 'registry.json')
  const [first, second] = [await registry(1), await registry(2)]
  writeRegistryFile(path, first)
  const holder = holdRegistry(root.publicKey, first)
  follow(path, holder)
  writeRegistryFile(path, second)
  await expect.poll(() => holder.current.version).toBe(2)
})

test('a registry for another environment is not taken, whoever passes it on', async () => {
  const holder = holdRegistry(root.publicKey, await registry(1))
  const trial = await registry(2, 'dev')
  expect(() => holder.offer(trial)).toThrow('UNAUTHENTIC')
  expect(holder.current.version).toBe(1)
  expect(holder.offer(await registry(2))).toBe(true)
})

test('a freeze of a whole domain holds from the very moment after it started, until it is lifted', async () => {
  const path = join(directory, 'frozen.json')
  const said: boolean[] = []
  const freeze = followInstanceFreeze(path, (freezing) => said.push(freezing !== null))
  unfollow = freeze.close
  freezeInstance(path, null, Date.now())
  await expect.poll(() => freeze.current()).not.toBeNull()
  unfreezeInstance(path)
  await expect.poll(() => freeze.current()).toBeNull()
  expect(said).toEqual([true, false])
})

test('a freeze that cannot be looked for is one', () => {
  const path = join(directory, 'frozen.json')
  symlinkSync(path, path)
  expect(readInstanceFreeze(path)).toMatchObject({ scope: 'instance' })
})
