// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice A venue that takes and gives exactly what it is told: fair or foul, as the test says.
contract Venue {
    using SafeERC20 for IERC20;

    /// @notice Of the calls that `tradeAmid` tried beside the trade, how many went through.
    uint256 public wentThrough;

    function trade(
        IERC20 tokenIn,
        uint256 taken,
        IERC20 tokenOut,
        uint256 given,
        address receiver
    ) external {
        tokenIn.safeTransferFrom(msg.sender, address(this), taken);
        if (given != 0) tokenOut.safeTransfer(receiver, given);
    }

    /// @notice Trades fairly, and meanwhile tries whatever else it was told to.
    function tradeAmid(
        IERC20 tokenIn,
        uint256 taken,
        IERC20 tokenOut,
        address receiver,
        address[] calldata targets,
        bytes[] calldata calls
    ) external {
        for (uint256 i = 0; i < targets.length; i++) {
            (bool success, ) = targets[i].call(calls[i]);
            if (success) wentThrough++;
        }
        tokenIn.safeTransferFrom(msg.sender, address(this), taken);
        tokenOut.safeTransfer(receiver, 1);
    }

    /// @notice Takes all it was allowed, and then the same again.
    function takeTwice(IERC20 tokenIn, uint256 amount) external {
        tokenIn.safeTransferFrom(msg.sender, address(this), amount);
        tokenIn.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Sends native currency to whoever calls, unasked.
    function refund() external payable {
        (bool sent, ) = msg.sender.call{value: msg.value}("");
        require(sent, "refund refused");
    }
}
