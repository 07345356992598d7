import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import {
  type RegistryBody,
  type RegistryEnvelope,
  registryMessage,
} from '../../src/quorum-protocol/registry.js'
import { holdRegistry } from '../../src/quorum-protocol/registry-holder.js'

/** Which registry a process goes by, of those that others pass on. */
const newRoot = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const root = newRoot()

async function signed(change: Partial<RegistryBody>, by = root): Promise<RegistryEnvelope> {
  const body: RegistryBody = {
    ...{ version: 5, environment: 'live', issued_at_ms: 0, co_signers: [], approvers: [] },
    ...{ quorum_signers: [], chains: [] },
    ...change,
  }
  const bytes = Buffer.from(JSON.stringify(body))
  return { body: bytes, signature: await p256SignerOf(by).sign(registryMessage(bytes)) }
}

test.each([
  ['a newer one', { version: 6 }, true],
  ['an older one', { version: 4 }, false],
  ['another one of the same version', { issued_at_ms: 1 }, false],
] as const)('%s, by the same root, is in force from then on: %s', async (_, change, isTaken) => {
  const first = await signed({})
  const held = holdRegistry(createPublicKey(root), first)
  const offered = await signed(change)
  expect(held.offer(offered)).toBe(isTaken)
  expect(held.current.envelope).toBe(isTaken ? offered : first)
})

test.each([
  ['of development', () => signed({ version: 6, environment: 'dev' })],
  ['by another root', () => signed({ version: 6 }, newRoot())],
  ['whose bytes were changed', async () => ({ ...(await signed({})), body: Buffer.from('{}') })],
])('a registry %s is refused, and the one before stays', async (_, made) => {
  const first = await signed({})
  const held = holdRegistry(createPublicKey(root), first)
  const offered = await made()
  expect(() => held.offer(offered)).toThrow('UNAUTHENTIC')
  expect(held.current.envelope).toBe(first)
})
