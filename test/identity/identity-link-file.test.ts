import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuthority } from '../../scripts/dev/certificates.js'
import {
  identityLinkAt,
  readIdentityLinkFile,
  readLinkListenerFile,
} from '../../src/config/identity-link.js'
import { readTlsFiles, type TlsFiles } from '../../src/config/tls-files.js'
import { readIdentitySettings } from '../../src/identity-provider/settings.js'

let directory: string
let files: TlsFiles
let another: TlsFiles

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'cs-link-file-'))
  const authority = makeAuthority(directory, 'authority')
  const issue = (name: string) => ({
    ...authority.issue(name, { usage: 'clientAuth' }),
    authority: authority.certificate,
  })
  files = issue('service')
  another = issue('another')
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function file(content: object | string, mode = 0o600): string {
  const path = join(directory, 'link.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  chmodSync(path, mode)
  return path
}

const messageOf = (read: () => unknown): string => {
  try {
    read()
    return 'taken'
  } catch (error) {
    return (error as Error).message
  }
}

test('each side’s file is read, with a host and a port', () => {
  const listener = { listen: { host: '10.0.0.3', port: 7_443 }, files }
  expect(readLinkListenerFile(file({ listen: '10.0.0.3:7443', ...files }))).toEqual(listener)
  expect(readLinkListenerFile(file({ listen: '[fd00::3]:7443', ...files })).listen.host).toBe(
    'fd00::3',
  )
  const address = { host: 'id.internal', port: 7_443 }
  const link = { address, others: [], serverName: null, files }
  expect(readIdentityLinkFile(file({ address: 'id.internal:7443', ...files }))).toEqual(link)
  const others = ['10.0.0.4:7443', '[fd00::4]:7443']
  const several = readIdentityLinkFile(file({ address: 'id.internal:7443', others, ...files }))
  expect(several.others).toEqual([
    { host: '10.0.0.4', port: 7_443 },
    { host: 'fd00::4', port: 7_443 },
  ])
  const named = { address: '10.0.0.3:7443', server_name: 'identity', ...files }
  expect(readIdentityLinkFile(file(named)).serverName).toBe('identity')
  expect(identityLinkAt(file(named)).credentials()).toHaveProperty('key')
  expect(readIdentitySettings({}).link).toBeNull()
  const path = file({ listen: '10.0.0.3:7443', ...files })
  expect(readIdentitySettings({ IDENTITY_LINK_FILE: path }).link).toEqual(listener)
})

test('a file that others may read, or that is no JSON, is refused by its path', () => {
  const good = { address: '10.0.0.3:7443', ...files }
  for (const mode of [0o640, 0o604, 0o644]) {
    expect(messageOf(() => readIdentityLinkFile(file(good, mode)))).toMatch(
      /link\.json must have mode 0600/,
    )
  }
  expect(messageOf(() => readIdentityLinkFile(file('{')))).toMatch(/link\.json is not JSON/)
  const listener = file({ listen: '10.0.0.3:7443', ...files }, 0o644)
  expect(messageOf(() => readIdentitySettings({ IDENTITY_LINK_FILE: listener }))).toMatch(
    /link\.json must have mode 0600/,
  )
})

test('each field that is wrong is named, and one that nobody knows', () => {
  const good = { address: '10.0.0.3:7443', ...files }
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ ...good, sever_name: 'x' }, /Unrecognized key: "sever_name"/],
    [{ ...good, listen: '10.0.0.3:7443' }, /Unrecognized key: "listen"/],
    [{ ...good, server_name: '10.0.0.3' }, /server_name: must be a name/],
    [{ ...good, server_name: 'a b' }, /server_name: is a host name/],
    [{ ...good, key: 'service.key' }, /key: is the path/],
    [{ ...good, authority: undefined }, /authority: /],
    ...[
      '10.0.0.3',
      '10.0.0.3:0',
      '10.0.0.3:65536',
      'https://id:1',
      'fd00::3:1',
      '[id]:1',
      ':1',
    ].map((address) => [{ ...good, address }, /address: is a host and a port/] as const),
  ]
  for (const [content, expected] of wrong) {
    expect(messageOf(() => readIdentityLinkFile(file(content)))).toMatch(expected)
  }
  const listening = { listen: 'id.internal:7443', ...files }
  expect(messageOf(() => readLinkListenerFile(file(listening)))).toMatch(
    /listen: has an address of this machine/,
  )
})

test('a key that others may read, and PEM files that are none or no pair, are refused by path', () => {
  expect(messageOf(() => readTlsFiles(files))).toBe('taken')
  chmodSync(files.key, 0o640)
  expect(messageOf(() => readTlsFiles(files))).toBe(`${files.key} must have mode 0600`)
  chmodSync(files.key, 0o600)
  const none = join(directory, 'none.pem')
  writeFileSync(none, 'none', { mode: 0o600 })
  expect(messageOf(() => readTlsFiles({ ...files, key: none }))).toMatch(
    /none\.pem is not a private/,
  )
  for (const part of ['certificate', 'authority']) {
    const message = messageOf(() => readTlsFiles({ ...files, [part]: none }))
    expect(message).toMatch(/none\.pem is not a certificate/)
  }
  const message = messageOf(() => readTlsFiles({ ...files, key: another.key }))
  expect(message).toBe(`${another.key} is not the key of ${files.certificate}`)
  expect(messageOf(() => readTlsFiles({ ...files, key: join(directory, 'gone') }))).toMatch(/gone/)
})
