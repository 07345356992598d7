import { type ChildProcess, spawn } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'

let directory = ''
let supervisor: ChildProcess | null = null
afterEach(() => {
  supervisor?.kill('SIGKILL')
  rmSync(directory, { recursive: true, force: true })
})

/** The supervisor itself, over a service whose readiness waits for a gate. */
function supervised(): AsyncIterator<string> {
  directory = mkdtempSync(join(tmpdir(), 'cs-supervisor-'))
  mkdirSync(join(directory, 'supervisor'))
  copyFileSync('test/supervisor/fixtures-gated-service.cjs', join(directory, 'main.js'))
  const entry = join(directory, 'supervisor', 'main.js')
  symlinkSync(realpathSync('dist/src/supervisor/main.js'), entry)
  supervisor = spawn(process.execPath, [entry], { stdio: ['ignore', 'pipe', 'ignore'] })
  if (supervisor.stdout === null) throw new Error('no output')
  return createInterface({ input: supervisor.stdout })[Symbol.asyncIterator]()
}

test('what was asked for while a service was replaced is not forgotten', async () => {
  const said = supervised()
  expect((await said.next()).value).toBe('first')
  supervisor?.kill('SIGHUP')
  expect((await said.next()).value).toBe('successor')
  supervisor?.kill('SIGHUP')
  writeFileSync(join(directory, 'gate'), '')
  expect((await said.next()).value).toBe('successor')
})
