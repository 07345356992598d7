import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runProgram } from '../../src/cli/program.js'
import { CLEAN, LISTED } from '../screening/fixtures.js'
import { advanced, ukCsv } from '../screening/list-samples.js'
import { chainConfig } from '../support/chain-config.js'

const [first = '', second = ''] = CLEAN

let home: string
let server: Server | null = null

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'lists-cli-'))
  const chains = [chainConfig(8453, { sanctions_oracle: null })]
  await writeFile(join(home, 'chains.json'), JSON.stringify({ chains }))
})
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  server = null
  await rm(home, { recursive: true, force: true })
})

async function run(...args: readonly string[]) {
  let out = ''
  let err = ''
  const io: Io = {
    env: { COUNTERSIGN_HOME: home },
    out: (text) => {
      out += text
    },
    err: (text) => {
      err += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, ['lists', ...args])
  const exit = process.exitCode
  process.exitCode = 0
  return { code: exit === undefined || exit === 0 ? code : exit, out, err }
}

async function file(name: string, content: string): Promise<string> {
  const path = join(home, name)
  await writeFile(path, content)
  return path
}

describe('lists', () => {
  it('imports each source, tells what it holds, and checks an address against all', async () => {
    expect(await run('status')).toMatchObject({ code: 4 })
    const ofac = await file('sdn.xml', advanced([{ name: 'ONE', accounts: [['USDT', LISTED]] }]))
    const uk = await file('uk.csv', ukCsv(`Uses ${first}.`))
    const own = await file('own.txt', `${second} # ours\nnonsense\n`)
    expect((await run('import', '--source', 'ofac', ofac)).code).toBe(0)
    expect((await run('import', '--source', 'uk', uk)).code).toBe(0)
    expect((await run('import', '--source', 'file', '--name', 'own', own)).code).toBe(0)

    const status = await run('status', '--json')
    expect(status.code).toBe(0)
    const { lists } = JSON.parse(status.out) as { lists: Record<string, unknown>[] }
    expect(lists.map((list) => [list.list, list.entries, list.refusedCount])).toEqual([
      ['ofac-sdn', 1, 0],
      ['own', 1, 1],
      ['uk-sanctions', 1, 0],
    ])
    for (const list of lists) {
      expect(list).toMatchObject({ version: expect.any(String), ageMs: expect.any(Number) })
    }
    expect((await run('status')).out).toMatch(/ofac-sdn\s+sanctions\s+1\s+\S+\s+0\.0 of 7 days/)

    const again = await run('import', '--source', 'file', '--name', 'own', own)
    expect(again.out).toMatch(/refused\s+1/)
    expect(again.err).toBe('refused (malformed): nonsense\n')

    const hit = await run('check', LISTED, '--json')
    expect(hit.code).toBe(3)
    expect(JSON.parse(hit.out)).toMatchObject([{ list: 'ofac-sdn' }])
    expect(await run('check', CLEAN[5] ?? '')).toMatchObject({ code: 0, out: 'on no list\n' })
  })

  it('looks at a development home as its service does', async () => {
    const sample = '0x098B716B8Aaf21512996dC57EB0615e2383E2f96'
    expect((await run('check', sample)).code).toBe(0)
    await file('.countersign-home', '')
    expect(await run('check', sample)).toMatchObject({ code: 3 })
    expect((await run('status')).code).toBe(0)
  })

  it('updates from the places that screening.json names', async () => {
    const started = createServer((_request, response) =>
      response.end(advanced([{ name: 'ONE', accounts: [['ETH', LISTED]] }])),
    )
    server = started
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}/list.xml`
    await file('screening.json', JSON.stringify({ downloads: [{ source: 'ofac', url }] }))
    const updated = await run('update', '--json')
    expect(updated.code).toBe(0)
    expect(JSON.parse(updated.out)).toMatchObject([{ outcome: 'updated', url }])
    expect((await run('check', LISTED)).code).toBe(3)
    started.closeAllConnections()
    started.close()
    expect((await run('update')).code).toBe(4)
    expect((await run('check', LISTED)).code).toBe(3)
  })

  it('follows a redirect to another host only where screening.json names it', async () => {
    const started = createServer((request, response) => {
      const { port } = started.address() as AddressInfo
      if (request.url === '/list.xml') {
        response.writeHead(302, { location: `http://localhost:${port}/blob` }).end()
      } else response.end(advanced([{ name: 'ONE', accounts: [['ETH', LISTED]] }]))
    })
    server = started
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
    const { port } = started.address() as AddressInfo
    const download = { source: 'ofac', url: `http://127.0.0.1:${port}/list.xml` }
    await file('screening.json', JSON.stringify({ downloads: [download] }))
    const refused = await run('update', '--json')
    expect(refused.code).toBe(4)
    expect(refused.out).toContain('redirect_hosts')
    const named = { ...download, redirect_hosts: [`localhost:${port}`] }
    await file('screening.json', JSON.stringify({ downloads: [named] }))
    expect((await run('update')).code).toBe(0)
    expect((await run('check', LISTED)).code).toBe(3)
  })

  it('refuses a file that is not the list it should be', async () => {
    const page = await file('page.html', '<html><body>maintenance</body></html>')
    const { code, err } = await run('import', '--source', 'ofac', page)
    expect(code).toBe(1)
    expect(err).not.toBe('')
    const garbage = await file('garbage.txt', 'hello\n0x123\n')
    for (const confirmed of [[], ['--confirm-shrink']]) {
      const refused = await run('import', '--source', 'file', ...confirmed, garbage)
      expect(refused).toMatchObject({ code: 1, out: '' })
      expect(refused.err).toContain('2 entries were refused, for example "hello"')
    }
    await mkdir(join(home, 'lists'))
    await file('lists/own.txt', `${first}\n`)
    expect((await run('status')).err).toContain('no sanctions list')
  })
})
