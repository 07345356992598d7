import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EngineSettings, openEngine } from '../../src/journal/open-engine.js'
import { PARTITION } from '../../src/store/journaled-store.js'

const PROCESS = fileURLToPath(new URL('./snapshot-process.mjs', import.meta.url))
const RESTORES_KILLED = 3
/**
 * How long after a snapshot a kill happens at most: the process is then in the middle of its
 * repeated work.
 */
const WORKS_MS_MAX = 2_000
const RESTORES_MS_MAX = 150
const TIMEOUT_MS = 600_000
/** A snapshot that has to repeat a step waits a second first. */
const AGAIN = { timeout: 120_000 }

interface Whole {
  readonly digest: string
  /** The number of rows that no commit removes. */
  readonly answers: number
}

interface Work {
  /** The index of the last commit that was acknowledged; -1 before the first. */
  readonly stored: number
  readonly snapshots: number
}

export interface KilledEngine {
  readonly settings: EngineSettings
  /** Each one kills a part of the engine and brings it back. */
  readonly outages: readonly (() => Promise<void>)[]
  /** Damages chunk 1 of the stored snapshot in place; the second call repairs it. */
  damage?(): void
  close(): Promise<void>
}

export interface SnapshotKillsOptions {
  /** The number of rounds, each with two kills or more. */
  readonly rounds: number
  /** Whether a test can reach the engine's data. */
  readonly damages: 'a chunk' | 'nothing'
}

/** Tests of a store whose journal is in an engine that keeps snapshots. */
export function describeSnapshotKills(
  name: string,
  open: () => Promise<KilledEngine>,
  { rounds, damages }: SnapshotKillsOptions,
): void {
  describe(`a journal that is trimmed in ${name}, with its store killed at any moment`, () => {
    let engine: KilledEngine
    let directory: string
    const children = new Set<ChildProcess>()

    beforeAll(async () => {
      engine = await open()
      directory = mkdtempSync(join(tmpdir(), 'cs-snapshots-'))
    })
    afterAll(async () => {
      for (const child of children) child.kill('SIGKILL')
      await engine?.close()
      rmSync(directory, { recursive: true, force: true })
    })

    function started(mode: 'work' | 'look', store: string) {
      const child = fork(PROCESS, [mode, store, JSON.stringify(engine.settings)], {
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      })
      children.add(child)
      let said = ''
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-4_000)
      })
      const exited = new Promise<NodeJS.Signals | null>((resolve) => {
        child.once('close', (_code, signal) => {
          children.delete(child)
          resolve(signal)
        })
      })
      const first = (type: string) =>
        new Promise<Record<string, unknown>>((resolve, reject) => {
          child.on('message', (message: Record<string, unknown>) => {
            if (message.type === type) resolve(message)
          })
          void exited.then(() => reject(new Error(`it ended: ${said}`)))
        })
      return { child, exited, first, said: () => said }
    }

    /** @param meanwhile work that runs until the store is killed */
    async function killedAtWork(
      store: string,
      meanwhile: (work: () => Work) => Promise<unknown>,
    ): Promise<Work> {
      const { child, exited, first, said } = started('work', store)
      let [stored, snapshots] = [-1, 0]
      child.on('message', (message: { type: string; index?: number }) => {
        if (message.type === 'stored') stored = message.index ?? stored
        if (message.type === 'made') snapshots++
      })
      await first('stored')
      await meanwhile(() => ({ stored, snapshots }))
      child.kill('SIGKILL')
      expect(await exited, said()).toBe('SIGKILL')
      return { stored, snapshots }
    }

    /** @returns whether the restore was still running */
    async function killedAmidRestore(store: string): Promise<boolean> {
      const { child, exited, first } = started('look', store)
      const opens = first('opens')
      first('whole').catch(() => undefined)
      await opens
      await sleep(Math.random() * RESTORES_MS_MAX)
      child.kill('SIGKILL')
      return (await exited) === 'SIGKILL'
    }

    async function wholeOf(store: string): Promise<Whole> {
      const { exited, first } = started('look', store)
      const { digest, answers } = await first('whole')
      await exited
      return { digest: String(digest), answers: Number(answers) }
    }

    test(
      'no store lacks anything that was acknowledged, and a lost one is the same as its own',
      async () => {
        const store = join(directory, 'store')
        let [snapshots, killed] = [0, 0]
        for (let round = 0; round < rounds; round++) {
          const work = await killedAtWork(store, async (soFar) => {
            await expect.poll(() => soFar().snapshots, AGAIN).toBeGreaterThan(0)
            await sleep(Math.random() * WORKS_MS_MAX)
          })
          snapshots += work.snapshots
          const lost = join(directory, `lost-${round}`)
          for (let times = 0; times < RESTORES_KILLED; times++) {
            if (await killedAmidRestore(lost)) killed++
          }
          const restored = await wholeOf(lost)
          expect(restored.answers).toBeGreaterThan(work.stored)
          expect(await wholeOf(store)).toEqual(restored)
          rmSync(lost, { recursive: true })
        }
        const journal = await openEngine(engine.settings, { warn: () => undefined })
        const { first } = await journal.readHead(PARTITION)
        await journal.close()
        process.stdout.write(
          `${snapshots} snapshots, ${killed} kills amid restoring, the journal begins at ${first}\n`,
        )
        expect(snapshots).toBeGreaterThanOrEqual(rounds)
        expect(killed).toBeGreaterThan(0)
        expect(first).toBeGreaterThan(1)
      },
      TIMEOUT_MS,
    )

    test(
      'nor where the engine lost a part amid a making: it goes on when that is back',
      async () => {
        const store = join(directory, 'outlives')
        let outages = 0
        const work = await killedAtWork(store, async (soFar) => {
          for (const outage of engine.outages) {
            await sleep(Math.random() * WORKS_MS_MAX)
            await outage()
            const { snapshots, stored } = soFar()
            await expect.poll(() => soFar().snapshots, AGAIN).toBeGreaterThan(snapshots + 1)
            expect(soFar().stored).toBeGreaterThan(stored)
            outages++
          }
        })
        expect(outages).toBe(engine.outages.length)
        const lost = await wholeOf(join(directory, 'lost'))
        expect(lost.answers).toBeGreaterThan(work.stored)
        expect(await wholeOf(store)).toEqual(lost)
      },
      TIMEOUT_MS,
    )

    if (damages === 'nothing') return
    test('a chunk that is damaged where it lies is found, named, and takes no place of a store', async () => {
      engine.damage?.()
      const lost = join(directory, 'damaged')
      const { exited, first, said } = started('look', lost)
      await expect(first('whole')).rejects.toThrow('it ended')
      await exited
      expect(said()).toMatch(/chunk 1 of the journal's snapshot of entry \d+ is damaged/)
      engine.damage?.()
      expect((await wholeOf(lost)).answers).toBeGreaterThan(0)
    })
  })
}
