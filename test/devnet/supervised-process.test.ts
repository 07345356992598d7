import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { backoffMs } from '../../scripts/dev/supervision/backoff.js'
import {
  type ProcessSpec,
  StartFailure,
  type SupervisedProcess,
  superviseProcess,
} from '../../scripts/dev/supervision/supervised-process.js'
import { isAlive, type Recorder, recorder, scratchDir } from './support/observer.js'

const READY = `process.send({ type: 'ready' }); process.on('disconnect', () => process.exit());`
/** Where a machine is busy, a process takes seconds to start and to end. */
const WAIT = { timeout: 60_000, interval: 50 }
const FAST = { firstMs: 20, maxMs: 80, provenAfterMs: 60_000 }

describe('a supervised process', () => {
  let scratch: ReturnType<typeof scratchDir>
  let seen: Recorder
  let running: SupervisedProcess[]

  beforeEach(() => {
    scratch = scratchDir()
    seen = recorder()
    running = []
  })
  afterEach(async () => {
    await Promise.all(running.map((supervised) => supervised.stop()))
    scratch.dispose()
  })

  function supervise(script: string, overrides: Partial<ProcessSpec> = {}): SupervisedProcess {
    const supervised = superviseProcess(
      {
        name: 'child',
        channel: 'ipc',
        readyTimeoutMs: 60_000,
        stopTimeoutMs: 60_000,
        logPath: join(scratch.path, 'child.log'),
        backoff: FAST,
        launch: async () => ({
          command: process.execPath,
          args: ['-e', script],
          env: { PATH: process.env.PATH },
        }),
        ...overrides,
      },
      seen,
    )
    running.push(supervised)
    return supervised
  }

  test('is started again under a new pid when it is killed', async () => {
    const child = supervise(READY)
    await child.start()
    const first = child.pid
    expect(first).not.toBeNull()
    process.kill(Number(first), 'SIGKILL')
    await vi.waitFor(() => expect(seen.restarts).toBe(1), WAIT)
    expect(child.pid).not.toBe(first)
    expect(isAlive(Number(child.pid))).toBe(true)
    expect(seen.lines[0]).toBe('child ended (SIGKILL); starting it again in 0.02 s')
  })

  test('waits longer each time it ends, up to the bound', async () => {
    const child = supervise(`${READY} setTimeout(() => process.exit(3), 10)`)
    await child.start()
    await vi.waitFor(() => expect(seen.restarts).toBeGreaterThanOrEqual(5), WAIT)
    const delays = seen.lines.flatMap((line) => /in ([\d.]+) s$/.exec(line)?.[1] ?? [])
    expect(delays.slice(0, 5)).toEqual(['0.02', '0.04', '0.08', '0.08', '0.08'])
    expect(seen.lines[0]).toContain('exit code 3')
  })

  test('begins with the first delay again once it lived long enough', async () => {
    const provenAfterMs = 250
    const child = supervise(READY, { backoff: { ...FAST, provenAfterMs } })
    await child.start()
    for (const restarts of [1, 2]) {
      // From here on, and not by the child's clock: it is known to run only once it is ready.
      await delay(provenAfterMs + 50)
      process.kill(Number(child.pid), 'SIGKILL')
      await vi.waitFor(() => expect(seen.restarts).toBe(restarts), WAIT)
    }
    const delays = seen.lines.flatMap((line) => /in ([\d.]+) s$/.exec(line)?.[1] ?? [])
    expect(delays).toEqual(['0.02', '0.02'])
  })

  test('goes on being tried when a restart fails', async () => {
    let launches = 0
    const child = supervise(READY, {
      launch: async () => ({
        command: process.execPath,
        args: ['-e', ++launches === 2 ? 'process.exit(9)' : READY],
        env: { PATH: process.env.PATH },
      }),
    })
    await child.start()
    process.kill(Number(child.pid), 'SIGKILL')
    await vi.waitFor(() => expect(seen.restarts).toBe(1), WAIT)
    expect(launches).toBe(3)
    expect(seen.lines.join('\n')).toContain('did not start: it ended (exit code 9)')
  })

  test('that cannot start fails with its last lines, not those of an earlier run', async () => {
    await expect(supervise(`console.log('earlier run'); process.exit(1)`).start()).rejects.toThrow()
    const failure = await supervise(`console.error('no such port'); process.exit(4)`)
      .start()
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StartFailure)
    expect(String(failure)).toContain('child did not start: it ended (exit code 4)')
    expect(String(failure)).toContain('no such port')
    expect(String(failure)).not.toContain('earlier run')
  })

  test('that is not ready in time is ended', async () => {
    const child = supervise('setInterval(() => {}, 1000)', { readyTimeoutMs: 200 })
    await expect(child.start()).rejects.toThrow('not ready after 0.2 s')
    expect(seen.spawned).toHaveLength(1)
    expect(isAlive(Number(seen.spawned[0]))).toBe(false)
  })

  test('whose program does not exist fails instead of hanging', async () => {
    const child = supervise('', {
      launch: async () => ({ command: join(scratch.path, 'nothing'), args: [], env: {} }),
    })
    await expect(child.start()).rejects.toThrow('could not be executed')
  })

  test('is asked to end, and may put its things away', async () => {
    const child = supervise(
      `process.on('SIGTERM', () => setTimeout(() => { console.log('tidy'); process.exit(0) }, 100)); ${READY}`,
    )
    await child.start()
    const pid = Number(child.pid)
    await child.stop()
    expect(isAlive(pid)).toBe(false)
    expect(readFileSync(join(scratch.path, 'child.log'), 'utf8')).toContain('tidy')
    expect(seen.restarts).toBe(0)
  })

  test('is killed when it does not end in time', async () => {
    const child = supervise(
      `process.on('SIGTERM', () => {}); ${READY} setInterval(() => {}, 1000)`,
      {
        stopTimeoutMs: 200,
      },
    )
    await child.start()
    const pid = Number(child.pid)
    await child.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('stays stopped when it is stopped between two lives', async () => {
    const child = supervise(READY, {
      backoff: { firstMs: 60_000, maxMs: 60_000, provenAfterMs: 1 },
    })
    await child.start()
    process.kill(Number(child.pid), 'SIGKILL')
    await vi.waitFor(() => expect(seen.lines).toHaveLength(1), WAIT)
    await child.stop()
    expect(child.pid).toBeNull()
    expect(seen.spawned).toHaveLength(1)
  })
})

test('delays double from the first to the bound and no further', () => {
  const delays = [0, 1, 2, 3, 4, 1_000].map((failures) => backoffMs(FAST, failures))
  expect(delays).toEqual([20, 40, 80, 80, 80, 80])
})
