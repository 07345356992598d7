import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import { nodeAt, nodeName, readNodeLinkFile } from '../../src/config/node-link.js'

let directory: string
let pems: { readonly certificate: string; readonly key: string; readonly authority: string }

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-node-link-'))
  const authority = makeAuthority(directory, 'nodes')
  const usage = 'serverAuth,clientAuth'
  pems = { ...authority.issue('node', { usage }), authority: authority.certificate }
  chmodSync(pems.key, 0o600)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function written(content: object, mode = 0o600): string {
  const path = join(directory, 'link.json')
  rmSync(path, { force: true })
  writeFileSync(path, JSON.stringify(content), { mode })
  return path
}

describe('the file of a link between nodes', () => {
  test('says where this one listens, and where the others find it', () => {
    const listen = '10.0.0.4:7444'
    expect(readNodeLinkFile(written({ listen, ...pems })).address).toEqual({
      ...{ host: '10.0.0.4', port: 7_444 },
    })
    const known = readNodeLinkFile(written({ listen, address: 'node-1.example:9', ...pems }))
    expect(known).toMatchObject({ listen: { host: '10.0.0.4' }, address: { port: 9 } })
  })

  test.each([
    [{ listen: 'node-1:7444' }, 'has an address of this machine'],
    [{ listen: '10.0.0.4' }, 'is a host and a port'],
    [{ listen: '10.0.0.4:1', adress: '10.0.0.4:1' }, 'adress'],
    [{ listen: '10.0.0.4:1', key: '/nowhere' }, '/nowhere'],
  ])('with a slip is named with it: %j', (slip, words) => {
    expect(() => readNodeLinkFile(written({ ...pems, ...slip }))).toThrow(words)
  })

  test('that others can read is refused', () => {
    const path = written({ listen: '10.0.0.4:1', ...pems })
    chmodSync(pems.key, 0o644)
    expect(() => readNodeLinkFile(path)).toThrow(pems.key)
    chmodSync(pems.key, 0o600)
  })
})

test.each([
  [{ host: '10.0.0.4', port: 7_444 }, 'vm:8080 https://10.0.0.4:7444'],
  [{ host: 'fd00::3', port: 1 }, 'vm:8080 https://[fd00::3]:1'],
  [{ host: 'node-1.example', port: 65_535 }, 'vm:8080 https://node-1.example:65535'],
  [null, 'vm:8080'],
])('an owner with the link %j is called %s, and found by that', (link, name) => {
  expect(nodeName('vm:8080', link)).toBe(name)
  expect(nodeAt(name)).toEqual(link)
})

test('what no node calls itself is none that is asked', () => {
  for (const name of ['', 'vm', 'https://', 'https://a b:1', 'vm https://x', 'vm http://x:1']) {
    expect(nodeAt(name)).toBeNull()
  }
})
