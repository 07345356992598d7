// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice Code that an upgraded proxy runs: it gives what it has to whomever anybody names.
contract FreeHand {
    function giveAway(IERC20 token, address to) external {
        token.transfer(to, token.balanceOf(address(this)));
    }
}
