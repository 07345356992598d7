import { type ChildProcess, execFile, spawn } from 'node:child_process'

/** `countersign` as it is built, on a home of the test's own. */
export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export function countersign(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['dist/src/cli/main.js', ...args, '--home', home],
      { env: { ...process.env, COUNTERSIGN_MODE: 'dev', ...env } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, stdout, stderr })
      },
    )
  })
}

/** As above, and it must succeed. @returns stdout */
export async function countersignOk(
  home: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await countersign(home, args, env)
  if (code !== 0) throw new Error(`countersign ${args.join(' ')}: ${stderr}`)
  return stdout
}

/**
 * Runs a command and kills it with SIGKILL as soon as `isTime` holds, or lets it end.
 * @returns true when it was killed
 */
export async function killedWhen(
  home: string,
  args: readonly string[],
  isTime: () => boolean,
): Promise<boolean> {
  const child: ChildProcess = spawn(
    process.execPath,
    ['dist/src/cli/main.js', ...args, '--home', home],
    { env: { ...process.env, COUNTERSIGN_MODE: 'dev' }, stdio: 'ignore' },
  )
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let ended = false
  void gone.then(() => {
    ended = true
  })
  while (!ended) {
    if (isTime()) {
      child.kill('SIGKILL')
      await gone
      return child.signalCode === 'SIGKILL'
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  return false
}
