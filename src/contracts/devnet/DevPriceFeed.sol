// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";

/// @title Chainlink-shaped price feed of the development chains
/// @notice Answers as an AggregatorV3 proxy with 8 decimals. `updatedAt` follows the block clock,
/// so that answers stay fresh without a keeper, until the owner freezes it to rehearse a stale feed.
contract DevPriceFeed is Ownable {
    /// @dev Chainlink USD pairs have 8 decimals.
    uint8 public constant decimals = 8;
    uint256 public constant version = 4;

    string public description;
    int256 private _answer;
    uint80 private _roundId = 1;
    /// @dev Unix seconds at which `updatedAt` stands still; 0 while it follows the clock.
    uint256 public frozenAt;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NoDataPresent();

    constructor(string memory description_, int256 answer_, address owner_) Ownable(owner_) {
        description = description_;
        _answer = answer_;
    }

    /// @param answer_ USD per whole unit, scaled by 10^8
    function setAnswer(int256 answer_) external onlyOwner {
        _answer = answer_;
        _roundId++;
        emit AnswerUpdated(answer_, _roundId, block.timestamp);
    }

    /// @param timestamp Unix seconds to report as `updatedAt` from now on; 0 follows the clock again
    function freezeAt(uint256 timestamp) external onlyOwner {
        frozenAt = timestamp;
    }

    function latestRoundData()
        public
        view
        returns (
            uint80 roundId,
            int256 answer,
            uint256 startedAt,
            uint256 updatedAt,
            uint80 answeredInRound
        )
    {
        uint256 updated = frozenAt == 0 ? block.timestamp : frozenAt;
        return (_roundId, _answer, updated, updated, _roundId);
    }

    function getRoundData(
        uint80 roundId_
    ) external view returns (uint80, int256, uint256, uint256, uint80) {
        require(roundId_ == _roundId, NoDataPresent());
        return latestRoundData();
    }
}
