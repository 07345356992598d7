import { describeClusterCommand } from '../support/cluster-command.js'

describeClusterCommand('postgres')
