import { createPublicKey } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Child, startChild } from '../../bench/child-process.js'
import { freePort } from '../../bench/free-port.js'
import { issuerOf, type SinkStack, startSinkStack } from '../../bench/sink-stack.js'
import {
  identityProviderSocket,
  quorumLayout,
  serviceLayout,
} from '../../src/custody/domain-keys/layout.js'
import { writeJournalPermit } from '../../src/disk/journal-permit.js'
import { keyIdOf, rawPublicKey } from '../../src/quorum-protocol/p256.js'
import { goneProcess } from '../support/ended-process.js'
import { httpClient, type ReplyBody } from '../support/http-client.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'
import { runCommand } from '../support/run-command.js'
import { journalPart } from './standby-pair.js'

const TAKES_OVER = { timeout: 60_000 }
const MODE_BITS = 0o777

/** A second home by `cluster add-node`, with keys and a quorum signer of its own, and one user side for both. */
function signerIdsOf(home: string, domain: 'service' | 'quorum'): string[] {
  const { keys } = domain === 'service' ? serviceLayout(home) : quorumLayout(home)
  const pem = readFileSync(join(keys, 'signing.pem'))
  return [keyIdOf(rawPublicKey(createPublicKey(pem))).toString('hex')]
}

describe('a node that was added', () => {
  let server: PostgresServer
  let directory: string
  let stack: SinkStack
  let env: Readonly<Record<string, string>>
  let home: string
  const started: Promise<Child>[] = []

  beforeAll(async () => {
    server = await createPostgres()
    directory = mkdtempSync(join(tmpdir(), 'cs-node-'))
    home = join(directory, 'home')
    const file = join(directory, 'journal.json')
    writeFileSync(file, JSON.stringify({ postgres: [server.url] }), { mode: 0o600 })
    env = { COUNTERSIGN_JOURNAL_FILE: file, COUNTERSIGN_WORKERS: '2' }
    stack = await startSinkStack({ wallets: 2, env })
  })
  afterAll(async () => {
    for (const child of await Promise.allSettled(started)) {
      if (child.status === 'fulfilled') await child.value.kill()
    }
    await stack?.stop()
    await server?.remove()
    rmSync(directory, { recursive: true, force: true })
  })

  /** A command of the operator's. */
  async function run(...args: readonly string[]) {
    const { code, out, said: err } = await runCommand(env, args)
    return { code, out, err }
  }

  function start(entry: string, environment: Record<string, string>): Promise<Child> {
    const child = startChild(entry, environment)
    started.push(child)
    return child
  }

  async function confirmed(url: string, caller: number): Promise<ReplyBody> {
    const api = httpClient(url, { 'x-api-key': stack.secrets[caller] ?? '' })
    const body = { chain_id: stack.chainId, to: `0x${'a1'.repeat(20)}`, value: '1' }
    let sent = await api.post('/api/tx/send', body)
    // With a newer registry the service makes its sessions with the other domains again, and signs nothing meanwhile.
    const again = async () => {
      if (sent.json.error?.code === 'COSIGNER_UNAVAILABLE')
        sent = await api.post('/api/tx/send', body)
      return sent.status
    }
    await expect.poll(again, TAKES_OVER).toBe(200)
    const view = async () => (await api.get(`/api/tx/${sent.json.tx_id}`)).json
    await expect.poll(async () => (await view()).status, TAKES_OVER).toBe('confirmed')
    return view()
  }

  test('is refused where the directory has something in it, and nothing there is touched', async () => {
    mkdirSync(home)
    writeFileSync(join(home, 'mine'), 'mine')
    const { code, err } = await run('cluster', 'add-node', '--to', home, '--home', stack.home)
    expect([code, readdirSync(home)]).toEqual([2, ['mine']])
    expect(err).toContain('is not empty')
    rmSync(home, { recursive: true })
  })

  test('is refused where no journal is, as nothing would keep the two together', async () => {
    const bare = join(directory, 'bare')
    mkdirSync(bare)
    const { code, err } = await run('cluster', 'add-node', '--to', home, '--home', bare)
    expect([code, existsSync(home)]).toEqual([2, false])
    expect(err).toContain('has no journal')
  })

  test('has what a service needs of the other home, by its modes, and nothing else', async () => {
    // A word for that home alone: by it, the new one would take the journal from its owner.
    writeJournalPermit(stack.home, 'service', 1)
    const killed = `${home}.${await goneProcess()}.partial`
    mkdirSync(join(killed, 'service'), { recursive: true })
    const made = await run('--json', 'cluster', 'add-node', '--to', home, '--home', stack.home)
    expect(made.code, made.err).toBe(0)
    expect(made.err).toContain('COUNTERSIGN_JOURNAL_ROLE=standby')
    expect(existsSync(killed)).toBe(false)
    rmSync(join(stack.home, 'service', 'journal-take'))
    const paths = readdirSync(home, { recursive: true, encoding: 'utf8' })
    const files = paths.filter((path) => statSync(join(home, path)).isFile())
    expect(JSON.parse(made.out)).toMatchObject({ home, files: files.length })
    const inCustody = ['evidence/data.mdb', 'ledger/data.mdb', 'shares/data.mdb'].map(
      (path) => `service/custody/${path}`,
    )
    // Not the co-signer key: each machine's is its own.
    const keys = ['root.pub.pem', 'wrapping.key'].map((name) => `service/custody/keys/${name}`)
    expect(files.filter((path) => !path.startsWith('service/lists/')).toSorted()).toEqual(
      ['chains.json', 'registry.json', ...inCustody, ...keys].toSorted(),
    )
    for (const path of files) {
      const mode = statSync(join(home, path)).mode & MODE_BITS
      expect(mode, path).toBe(statSync(join(stack.home, path)).mode & MODE_BITS)
    }
    const folders = paths.filter((path) => statSync(join(home, path)).isDirectory())
    const open = folders.filter((path) => (statSync(join(home, path)).mode & 0o077) !== 0)
    expect(open).toEqual([])
  })

  test('signs by its own two keys once the owner is lost with its, which end', async () => {
    const registry = join(directory, 'registry.json')
    const enrolments = ['s2.json', 'q2.json'].map((name) => join(directory, name))
    const before = readFileSync(join(home, 'registry.json'))
    for (const [at, domain] of ['service', 'quorum'].entries()) {
      const args = ['--domain', domain, '--root-public', serviceLayout(home).rootKey]
      const to = ['--home', home, '--enrolment', enrolments[at] ?? '']
      const provisioned = await run('custody', 'provision', ...args, ...to)
      expect(provisioned.code, provisioned.err).toBe(0)
    }
    const sign = async (...what: readonly string[]) => {
      rmSync(registry, { force: true })
      const root = ['--root', join(stack.home, 'root', 'root.pem')]
      const args = ['sign-registry', ...root, '--out', registry, ...what]
      const signed = await run('--json', 'custody', ...args)
      expect(signed.code, signed.err).toBe(0)
      return JSON.parse(signed.out)
    }
    const add = ['--registry', join(stack.home, 'registry.json'), '--enrolments', ...enrolments]
    const added = { version: 2, co_signers: 2, quorum_signers: 2 }
    expect(await sign(...add)).toMatchObject(added)
    for (const at of [stack.home, home]) {
      expect((await run('custody', 'install-registry', registry, '--home', at)).code).toBe(0)
    }
    expect(readFileSync(join(home, 'registry.json'))).not.toEqual(before)
    mkdirSync(join(home, 'run'), { mode: 0o700 })
    symlinkSync(identityProviderSocket(stack.home), identityProviderSocket(home))
    await start('dist/src/quorum-signer/main.js', { COUNTERSIGN_HOME: home })
    const first = await confirmed(stack.baseUrl, 0)

    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}`
    const service = start('dist/src/main.js', {
      ...{ ...env, COUNTERSIGN_HOME: home, PORT: port, IDENTITY_ISSUER: issuerOf(stack.home) },
      COUNTERSIGN_JOURNAL_ROLE: 'standby',
    })
    // Whether it comes to that is what is tested.
    service.catch(() => undefined)
    await expect
      .poll(() => journalPart(url), TAKES_OVER)
      .toMatchObject({ standby: true, behind: 0 })
    for (const pid of [stack.pids.service, stack.pids.quorum]) process.kill(pid, 'SIGKILL')
    await expect.poll(async () => (await journalPart(url)).http, TAKES_OVER).toBe(200)
    await service
    expect(await confirmed(url, 0)).toMatchObject({ nonce: Number(first.nonce) + 1 })
    await confirmed(url, 1)

    // What the lost machine had is worth nothing any more, and nobody else is held up by it.
    const lost = [...signerIdsOf(stack.home, 'service'), ...signerIdsOf(stack.home, 'quorum')]
    const draft = join(directory, 'draft.json')
    const drafted = await run(
      ...['custody', 'draft-registry', '--home', home, '--out', draft, '--end', ...lost],
    )
    expect(drafted.code, drafted.err).toBe(0)
    expect(await sign('--draft', draft)).toMatchObject({ ...added, version: 3 })
    for (const at of [stack.home, home]) {
      expect((await run('custody', 'install-registry', registry, '--home', at)).code).toBe(0)
    }
    await confirmed(url, 0)
    const asStandby = { ...env, COUNTERSIGN_JOURNAL_ROLE: 'standby', COUNTERSIGN_HOME: stack.home }
    const back = start('dist/src/main.js', asStandby)
    await expect(back).rejects.toThrow('names none of this domain')
  })

  test('cannot sign by a quorum signer that the registry does not name', async () => {
    const stranger = join(directory, 'stranger.json')
    const args = ['--domain', 'quorum', '--root-public', serviceLayout(home).rootKey]
    const other = join(directory, 'other')
    mkdirSync(other)
    await run('custody', 'provision', ...args, '--home', other, '--enrolment', stranger)
    writeFileSync(join(other, 'registry.json'), readFileSync(join(home, 'registry.json')))
    const ends = start('dist/src/quorum-signer/main.js', { COUNTERSIGN_HOME: other })
    await expect(ends).rejects.toThrow('names none of this domain')
  })
})
