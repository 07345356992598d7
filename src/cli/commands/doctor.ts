import { resolve } from 'node:path'
import type { Command } from 'commander'
import { devEnvironment, type GlobalOptions, homeOf } from '../connection.js'
import { chainChecks } from '../doctor/chain-checks.js'
import { readEnvironments, sharedEnvironment } from '../doctor/environments.js'
import { check, type Finding } from '../doctor/finding.js'
import { homeChecks } from '../doctor/home-checks.js'
import { machineChecks } from '../doctor/machine-checks.js'
import { reachChecks } from '../doctor/reach-checks.js'
import { settingChecks } from '../doctor/setting-checks.js'
import { EXIT } from '../exit-codes.js'
import type { Io } from '../io.js'
import { printRows } from '../print.js'

type DoctorOptions = GlobalOptions & { readonly environments?: string }

const COLUMNS = ['status', 'subject', 'found', 'way_out']

/** Checks an installation before or while it runs, and changes nothing. */
export function register(program: Command, io: Io): void {
  program
    .command('doctor')
    .description('check an installation; exit code 1 when something is broken')
    .option('--environments <directory>', "the units' environment files (default: this shell's)")
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<DoctorOptions>()
      const findings = await examine(io, options)
      const rows = findings.map(({ wayOut, ...rest }) => ({ ...rest, way_out: wayOut }))
      const healthy = findings.every(({ status }) => status !== 'fail')
      printRows(io, options, { healthy, findings: rows }, rows, COLUMNS)
      if (!healthy) process.exitCode = EXIT.failed
    })
}

async function examine(io: Io, options: DoctorOptions): Promise<readonly Finding[]> {
  const directory = options.environments === undefined ? null : resolve(options.environments)
  let environments = sharedEnvironment({ ...devEnvironment(io, options), ...io.env })
  const read = await check(
    'environments',
    'pass --environments with the directory of the *.env files, as root',
    () => {
      if (directory !== null) environments = readEnvironments(directory)
      return []
    },
  )
  const home = resolve(options.home ?? environments.service.COUNTERSIGN_HOME ?? homeOf(io, options))
  const checks = await Promise.all([
    machineChecks(home, environments.service),
    homeChecks(home, environments),
    chainChecks(home, environments.service),
    reachChecks(home, environments),
  ])
  return [...read, ...settingChecks(environments, directory === null), ...checks.flat()]
}
