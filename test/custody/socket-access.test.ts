import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type SocketServer, serveSocket } from '../../src/quorum-protocol/server.js'
import { socketAccessOf } from '../../src/quorum-protocol/socket-access.js'

/** Numbers that no account of the machine has. */
const IDENTITY_SOCKET_GROUP = 71_001
const QUORUM_SOCKET_GROUP = 71_002
const SOMEBODY = 71_099
const IS_ROOT_ON_LINUX = process.platform === 'linux' && process.getuid?.() === 0

let directory: string
let server: SocketServer

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cs-run-'))
  chmodSync(directory, 0o755)
})
afterAll(async () => {
  await server?.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('24: a domain’s socket', () => {
  test('is its owner’s alone unless a group is named', async () => {
    const path = join(directory, 'alone.sock')
    const alone = await serveSocket({ path, methods: {}, handlers: {}, onFault: () => {} })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await alone.close()
  })

  test.runIf(IS_ROOT_ON_LINUX)('is open to its group, and to no other user or group', async () => {
    const path = join(directory, 'quorum.sock')
    const access = socketAccessOf({ COUNTERSIGN_SOCKET_GROUP: String(QUORUM_SOCKET_GROUP) })
    server = await serveSocket({ path, access, methods: {}, handlers: {}, onFault: () => {} })
    expect(statSync(path).mode & 0o777).toBe(0o660)
    expect(statSync(path).gid).toBe(QUORUM_SOCKET_GROUP)
    expect(await connectAs(path, SOMEBODY, QUORUM_SOCKET_GROUP)).toBe('open')
    expect(await connectAs(path, SOMEBODY, IDENTITY_SOCKET_GROUP)).toBe('EACCES')
    expect(await connectAs(path, SOMEBODY, SOMEBODY)).toBe('EACCES')
  })

  test('a group that does not exist is an error, not an open socket', () => {
    expect(() => socketAccessOf({ COUNTERSIGN_SOCKET_GROUP: 'no-such-group-here' })).toThrow(
      /no group no-such-group-here/,
    )
  })
})

function connectAs(path: string, uid: number, gid: number): Promise<string> {
  // It becomes another user itself: that one may not reach the binary of this Node.
  const program = `process.setgroups([]); process.setgid(${gid}); process.setuid(${uid})
    require('node:net').connect(${JSON.stringify(path)})
    .on('connect', () => { console.log('open'); process.exit() })
    .on('error', (error) => console.log(error.code))`
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['-e', program], { cwd: '/' })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', () => resolve(output.trim()))
  })
}
