import { NO_NATIVE_BUILD, usualAdapter } from '../../src/http/uws.js'
import { banner } from './banner.js'
import { devHome } from './home/layout.js'
import { inForeground, portOf } from './in-foreground.js'
import { startInstance } from './instance.js'
import { ensureDevPackages, NOT_INSTALLED_EXIT } from './packages/offer-install.js'

/**
 * `npm start`: the whole service and its six chains on this machine, until Ctrl-C. Environment:
 * PORT (default 8080), COUNTERSIGN_HOME (default ./.countersign). `--install` installs the chains'
 * missing dependencies without asking.
 */
await inForeground(async ({ shutdown, say, onRestart }) => {
  const home = devHome(process.env)
  if (!(await ensureDevPackages(process.argv.includes('--install'), say))) {
    process.exit(NOT_INSTALLED_EXIT)
  }
  const port = portOf(process.env)
  const instance = await startInstance({ command: 'npm start', home, port, shutdown, say })
  onRestart(instance.replaceService)
  if (usualAdapter() === 'node:http') say(`${NO_NATIVE_BUILD}: node:http serves`)
  process.stdout.write(banner(instance.dev, home.root))
})
