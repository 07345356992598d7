import type { Command } from 'commander'
import type { Io } from '../io.js'
import { runEntry } from '../run-script.js'

/** These read and write a domain's own files, and so run as that domain's user. */
const PROGRAMS = [
  ['backup', 'backup-domain', "copy one domain's custody stores while it runs"],
  ['restore', 'restore-domain', "put a backup in the place of one domain's stores"],
  ['verify-audit', 'verify-audit', 'prove offline that both keys approved what was signed'],
] as const

export function register(program: Command, io: Io): void {
  const custody = program.command('custody').description('shares, backups and evidence')
  for (const [name, file, description] of PROGRAMS) {
    custody
      .command(name)
      .description(description)
      .argument('[arguments...]', 'passed on; --help tells them')
      .allowUnknownOption()
      .helpOption(false)
      .action(async (args: readonly string[]) => {
        process.exitCode = await runEntry(`dist/src/custody/commands/${file}.js`, args, io.env)
      })
  }
}
