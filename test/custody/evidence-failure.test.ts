import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serviceLayout, userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { openEvidenceLog, openEvidenceReader } from '../../src/custody/evidence/evidence-log.js'
import { readEvidence } from '../../src/custody/evidence/read-evidence.js'
import { EVIDENCE_KIND } from '../../src/custody/evidence/stored-evidence.js'
import { openLedgerStore } from '../../src/identity-provider/vault/ledger-store.js'
import { forkWithFileLimit } from '../support/limited-files.js'
import { countersignOk } from './command.js'
import {
  issuerPort,
  type Quorum,
  READY_MS,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'

/** Room for some entries with calldata like this, besides what the stores hold already. */
const ROOM_BYTES = 512 * 1024
const CALLDATA = `0x${'01'.repeat(60_000)}` as const
const SIGNATURES_MAX = 100

const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Standard output and exit code of a process that ends by itself. */
async function ended(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  children.push(child)
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

async function problemsIn(path: string): Promise<readonly string[]> {
  const log = openEvidenceReader(path)
  const { problems } = readEvidence('log', log.entries())
  await log.close()
  return problems.filter((problem) => !problem.includes('malformed'))
}

describe('a write of the evidence that fails', () => {
  let path: string
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'cs-full-'))
  })
  afterAll(() => rmSync(path, { recursive: true, force: true }))

  test('ends the log and leaves no hole, whatever was on its way behind it', async () => {
    const fixture = 'test/custody/fixtures-full-evidence.mjs'
    const { output } = await ended(forkWithFileLimit(fixture, ROOM_BYTES, {}, [path]))
    expect(JSON.parse(output)).toEqual({
      large: 'EvidenceBroken',
      behind: ['EvidenceBroken'],
      later: 'EvidenceBroken',
      told: ['EvidenceBroken'],
    })
    expect(await problemsIn(path)).toEqual([])

    const again = openEvidenceLog(path, 0, () => {})
    expect(again.length).toBe(5)
    await again.append({ timeMs: 1, kind: EVIDENCE_KIND.batch, body: Buffer.alloc(9) })
    await again.close()
    expect(await problemsIn(path)).toEqual([])
  })

  test('is not counted by the ledger as an entry that it covers', async () => {
    const ledger = openLedgerStore(join(path, 'ledger'), { length: 9 })
    await ledger.commit((writer) => writer.putLane(1, 1)).flushed
    await ledger.close()
    const again = openLedgerStore(join(path, 'ledger'), { length: 8 })
    expect(again.covered).toBe(8)
    await again.close()
  })
})

describe('when the disk is full', () => {
  let quorum: Quorum
  let wallet: ReadyWallet
  beforeAll(async () => {
    quorum = await startQuorum()
    wallet = await readyWallet(quorum)
  })
  afterAll(() => quorum?.close())

  const large = (nonce: number) =>
    requestOf(wallet, transfer(nonce, { data: CALLDATA, gasLimit: 2_000_000n }))

  test('the identity provider ends, and goes on with whole evidence once there is room', async () => {
    await quorum.identityProvider.stop()
    const { evidence } = userSideLayout(quorum.home)
    const limit = statSync(join(evidence, 'data.mdb')).size + ROOM_BYTES
    const limited = forkWithFileLimit('dist/src/identity-provider/main.js', limit, {
      COUNTERSIGN_HOME: quorum.home,
      IDENTITY_PORT: issuerPort(quorum.home),
    })
    const end = ended(limited)
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    let nonce = 0
    // One that is refused while it runs came too late on a busy machine, and is asked for again.
    while (nonce < SIGNATURES_MAX && limited.exitCode === null) {
      if ((await quorum.coSigner.sign(large(nonce))).ok) nonce++
      else await delay(50)
    }
    expect(nonce).toBeGreaterThan(0)
    const { code, output } = await end
    expect(code).toBe(1)
    expect(output).toContain('the identity provider stops, to restart')

    quorum.identityProvider = await quorum.startIdentityProvider()
    expect(await quorum.coSigner.whenReady(READY_MS)).toBe(true)
    await signed(quorum, large(nonce))
    expect(await countersignOk(quorum.home, ['verify-audit'])).toContain('both logs are whole')
  })

  test('the service signs no more, and goes on with whole evidence once there is room', async () => {
    const other = await readyWallet(quorum)
    await quorum.coSigner.close()
    const { evidence } = serviceLayout(quorum.home)
    const limit = statSync(join(evidence, 'data.mdb')).size + ROOM_BYTES
    const known = JSON.stringify({
      ...other,
      proofKey: Buffer.from(other.proofKey).toString('hex'),
    })
    const fixture = 'test/custody/fixtures-full-service.mjs'
    const { output } = await ended(forkWithFileLimit(fixture, limit, {}, [quorum.home, known]))
    const { signed: count, ...rest } = JSON.parse(output)
    expect(count).toBeGreaterThan(0)
    expect(rest).toEqual({ told: ['EvidenceBroken'], next: 'UNAVAILABLE' })

    await quorum.connect()
    await signed(quorum, requestOf(other, transfer(count + 2)))
    expect(await countersignOk(quorum.home, ['verify-audit'])).toContain('both logs are whole')
  })
})
