import { spawn } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startChild } from '../../bench/child-process.js'
import {
  identityProviderSocket,
  quorumSignerSocket,
  rootPrivateKeyPath,
  serviceLayout,
  userSideLayout,
} from '../../src/custody/domain-keys/layout.js'
import { openShareStore } from '../../src/custody/domain-keys/share-store.js'
import { provisionDev } from '../../src/custody-tools/provisioning/provision.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { expectBytes } from '../../src/quorum-protocol/bytes.js'
import { addInto, pointOf } from '../../src/quorum-protocol/curve.js'
import {
  type Quorum,
  type ReadyWallet,
  readyWallet,
  requestOf,
  signed,
  startQuorum,
  transfer,
} from './harness.js'
import { dial } from './hostile.js'

let quorum: Quorum
let wallet: ReadyWallet

beforeAll(async () => {
  quorum = await startQuorum()
  wallet = await readyWallet(quorum)
})
afterAll(() => quorum?.close())

const IS_LINUX = process.platform === 'linux'
const IS_ROOT = process.getuid?.() === 0
/** A user that owns nothing of ours. */
const NOBODY = 65_534

describe('outside the signature', () => {
  test.runIf(IS_LINUX)(
    '23: neither the key nor a share is in the quorum signer’s memory',
    async () => {
      const requests = Array.from({ length: 64 }, (_, nonce) => requestOf(wallet, transfer(nonce)))
      await Promise.all(requests.map((request) => signed(quorum, request)))
      const shares = await sharesOf(wallet)
      const key = Buffer.from(shares.user)
      addInto(key, shares.service)
      // The scan must be able to find what is there: the boot id lives as long as the process.
      const client = await dial(quorumSignerSocket(quorum.home))
      const boot = expectBytes(await client.call('boot', [])).subarray(0, 16)
      client.close()
      const found = scan(quorum.quorumSigner.pid, [boot, key, shares.user, shares.service])
      expect(found[0]).toBeGreaterThan(0)
      expect(found.slice(1)).toEqual([0, 0, 0])
    },
  )

  test('the two shares make the wallet’s key, and neither store has the other one', async () => {
    const shares = await sharesOf(wallet)
    expect(shares.user.equals(shares.service)).toBe(false)
    for (const [directory, strange] of [
      [serviceLayout(quorum.home).shares, shares.user],
      [userSideLayout(quorum.home).shares, shares.service],
    ] as const) {
      const content = readFileSync(join(directory, 'data.mdb'))
      expect(content.includes(strange)).toBe(false)
      expect(content.includes(pointOf(strange))).toBe(true)
    }
  })

  test.runIf(IS_LINUX && IS_ROOT)(
    '24: another user reaches no socket, no key file, no memory',
    async () => {
      const paths = [identityProviderSocket(quorum.home), quorumSignerSocket(quorum.home)]
      const files = [
        serviceLayout(quorum.home).signingKey,
        userSideLayout(quorum.home).wrappingKey,
        rootPrivateKeyPath(quorum.home),
      ]
      for (const path of [...paths, ...files]) expect(statSync(path).mode & 0o077).toBe(0)
      const program = `
      const net = require('node:net'), fs = require('node:fs'), results = []
      for (const path of ${JSON.stringify([...files, `/proc/${quorum.quorumSigner.pid}/mem`])}) {
        try { fs.openSync(path, 'r'); results.push('open') } catch (e) { results.push(e.code) }
      }
      let left = ${paths.length}
      const done = (r) => { results.push(r); if (--left === 0) console.log(results.join()) }
      for (const path of ${JSON.stringify(paths)}) {
        net.connect(path).on('connect', () => done('open')).on('error', (e) => done(e.code))
      }`
      expect(await runAs(NOBODY, program)).toMatch(/^(EACCES,)+EACCES$/)
    },
  )

  test('25: a machine without the native curve library starts no signer in live', async () => {
    const hook = join(quorum.home, 'without-binding.cjs')
    writeFileSync(
      hook,
      `const Module = require('node:module')
       const load = Module._load
       Module._load = function (name, ...rest) {
         if (name === 'secp256k1/bindings.js') throw new Error('no prebuilt binary')
         return load.call(this, name, ...rest)
       }`,
    )
    const env = {
      COUNTERSIGN_HOME: quorum.home,
      COUNTERSIGN_MODE: 'live',
      NODE_OPTIONS: `--require ${hook}`,
    }
    const entries = ['src/quorum-signer/main', 'src/identity-provider/main', 'actors/worker']
    for (const entry of entries) {
      await expect(startChild(`dist/${entry}.js`, env)).rejects.toThrow(/no prebuilt binary/)
    }
  })

  test('live takes neither a dev registry nor key files', async () => {
    const home = mkdtempSync(join(tmpdir(), 'cs-dev-'))
    try {
      await provisionDev(home)
      const env = { COUNTERSIGN_HOME: home, COUNTERSIGN_MODE: 'live' }
      await expect(startChild('dist/src/quorum-signer/main.js', env)).rejects.toThrow(
        /the registry is for dev/,
      )
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})

async function sharesOf(of: ReadyWallet): Promise<{ user: Buffer; service: Buffer }> {
  const open = async (domain: 'user' | 'service', layout = userSideLayout(quorum.home)) => {
    const store = openShareStore(domain, layout, [readFileSync(layout.wrappingKey)])
    try {
      const record = store.get(ulidBytes(of.walletId))
      if (record === null) throw new Error('no share')
      return store.openShare(record)
    } finally {
      await store.close()
    }
  }
  return { user: await open('user'), service: await open('service', serviceLayout(quorum.home)) }
}

/** How often each needle occurs in the writable memory of a process. */
function scan(pid: number, needles: readonly Uint8Array[]): number[] {
  const counts = needles.map(() => 0)
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const match = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line)
      if (match === null) continue
      const start = Number.parseInt(match[1] ?? '0', 16)
      const region = readRegion(memory, start, Number.parseInt(match[2] ?? '0', 16) - start)
      needles.forEach((needle, index) => {
        let at = region.indexOf(needle)
        while (at >= 0) {
          counts[index] = (counts[index] ?? 0) + 1
          at = region.indexOf(needle, at + 1)
        }
      })
    }
  } finally {
    closeSync(memory)
  }
  return counts
}

/** What can be read of a region: pages that were never touched answer with an error. */
function readRegion(memory: number, start: number, length: number): Buffer {
  const LONGEST = 512 * 1024 * 1024
  const region = Buffer.alloc(Math.min(length, LONGEST))
  try {
    const read = readSync(memory, region, 0, region.length, start)
    return region.subarray(0, read)
  } catch {
    return Buffer.alloc(0)
  }
}

function runAs(uid: number, program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', program], { uid, gid: uid, cwd: '/' })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('error', reject)
    // At its exit, what it wrote may still be on its way.
    child.on('close', () => resolve(output.trim()))
  })
}
