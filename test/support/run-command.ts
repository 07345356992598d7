import { runProgram } from '../../src/cli/program.js'

/** Runs an operator's command in this process and collects its output. */
export async function runCommand(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly said: string }> {
  let [out, said] = ['', '']
  const io = {
    env,
    out: (text: string) => {
      out += text
    },
    err: (text: string) => {
      said += text
    },
    isInteractive: false,
  }
  const code = await runProgram(io, args)
  return { code, out, said }
}
