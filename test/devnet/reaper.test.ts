import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isAlive, scratchDir } from './support/observer.js'

const FIXTURE = fileURLToPath(new URL('./fixtures/supervisor.mjs', import.meta.url))
const DIST_SCRIPTS = fileURLToPath(new URL('../../dist/scripts', import.meta.url))

let scratch: ReturnType<typeof scratchDir>
let supervisor: ChildProcess
let pids: number[]

beforeEach(async () => {
  scratch = scratchDir()
  // A group of its own, as a terminal gives it: signals to the group reach what is in it.
  supervisor = fork(FIXTURE, [DIST_SCRIPTS, scratch.path], { detached: true })
  pids = await new Promise((resolve, reject) => {
    supervisor.once('message', (message: { pids: Record<string, number> }) =>
      resolve(Object.values(message.pids)),
    )
    supervisor.once('exit', (code) => reject(new Error(`the fixture ended (${code})`)))
  })
})
afterEach(() => {
  for (const pid of [supervisor.pid ?? 0, ...pids])
    if (pid > 0 && isAlive(pid)) process.kill(pid, 'SIGKILL')
  scratch.dispose()
})

test('no child outlives a supervisor that is killed', async () => {
  expect(pids.map(isAlive)).toEqual([true, true, true])
  supervisor.kill('SIGKILL')
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 })
})

test('no child outlives a supervisor whose whole process group is killed', async () => {
  expect(pids.map(isAlive)).toEqual([true, true, true])
  process.kill(-(supervisor.pid ?? 0), 'SIGKILL')
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: 60_000 })
})
