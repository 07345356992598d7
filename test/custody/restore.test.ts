import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceLayout } from '../../src/custody/domain-keys/layout.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

const run = promisify(execFile)

let quorum: Quorum
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
}, 30_000)
afterAll(() => quorum?.close())

describe('28: a user side that was restored from an older backup', () => {
  test('approves nothing until it is fenced, and then no taken nonce anew', async () => {
    await signed(quorum, requestOf(wallet, transfer(0)))
    const backup = join(quorum.home, 'backup')
    await command('custody/commands/backup-domain', '--domain', 'user', '--to', backup)
    const later = await signed(quorum, requestOf(wallet, transfer(1)))

    await quorum.identityProvider.stop()
    const restored = await command(
      'custody/commands/restore-domain',
      '--domain',
      'user',
      '--from',
      backup,
    )
    expect(restored).toContain('1 shares fit their certificates')
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(1_500)).toBe(false)
    expect(await quorum.coSigner.sign(requestOf(wallet, transfer(2)))).toMatchObject({
      reason: 'UNAVAILABLE',
    })

    await quorum.identityProvider.stop()
    const log = serviceLayout(quorum.home).evidence
    await command('identity-provider/commands/fence', '--service-log', log)
    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(10_000)).toBe(true)
    const other = requestOf(wallet, transfer(1, { value: 77n }))
    const taken = await quorum.coSigner.sign(other)
    expect(taken).toMatchObject({ ok: false, reason: 'NONCE_TAKEN' })
    expect(Buffer.from((taken.ok ? undefined : taken.takenBy) ?? '')).toEqual(
      Buffer.from(later.intentId),
    )
    await signed(quorum, requestOf(wallet, transfer(2)))
  })
})

async function command(name: string, ...options: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [
    `dist/src/${name}.js`,
    ...options,
    '--home',
    quorum.home,
  ])
  return stdout
}
